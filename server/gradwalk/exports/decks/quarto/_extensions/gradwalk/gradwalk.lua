--- A backward pass in a Quarto or Pandoc document: the player where pages are read on a screen, pictures where they are
--- printed, from one source.
---
---     ::: {.gradwalk program="lesson.py" step="1.3" height="480"}
---     What the reader should look at.
---     :::
---
--- `program` is a file with PyTorch, or a saved trace (.json). `step` is where the player opens and what is printed;
--- `steps="all"` prints a picture for every step. Needs `gradwalk` on the PATH while the document is made, and nothing
--- while it is read. Uses Pandoc's own Lua interface alone, which Quarto gives its filters whole.

local has_module = false
local traces = {}

--- A saved trace of the program: it runs once, whatever is drawn of it.
local function trace_of(program)
  if program:match("%.json$") then
    return program
  end
  if not traces[program] then
    local path = os.tmpname()
    os.remove(path)
    path = path .. ".json"
    pandoc.pipe("gradwalk", { "export", program, "--format", "json", "--output", path }, "")
    traces[program] = path
  end
  return traces[program]
end

local function export(program, format, step, phase)
  local arguments = { "export", trace_of(program), "--format", format }
  if step then
    table.insert(arguments, "--step")
    table.insert(arguments, tostring(step))
    table.insert(arguments, "--phase")
    table.insert(arguments, tostring(phase))
  end
  return pandoc.pipe("gradwalk", arguments, "")
end

--- The player itself, once per document.
local function module()
  if has_module then
    return ""
  end
  has_module = true
  local source = pandoc.pipe("gradwalk", { "kit" }, "")
  source = source:gsub("</script", "<\\/script"):gsub("<!%-%-", "<\\!--")
  return '<script type="module">' .. source .. "</script>"
end

local function escape(text)
  return (text:gsub("&", "&amp;"):gsub('"', "&quot;"):gsub("<", "&lt;"))
end

--- The picture as an address, so that nothing has to lie beside the page.
local function data_address(svg)
  return "data:image/svg+xml," .. svg:gsub("[^%w%-_.~]", function(c) return string.format("%%%02X", c:byte()) end)
end

local function player(div, program, step, phase)
  local trace = export(program, "kit"):gsub("<", "\\u003c")
  local picture = export(program, "svg", step, phase)
  local caption = escape(pandoc.utils.stringify(div.content))
  local height = div.attributes.height or "480"
  local html = string.format(
    '<grad-walk step="%d.%d" offline style="display: block; height: %spx"><script type="application/json">%s</script>'
      .. '<img src="%s" alt="%s" style="max-width: 100%%"></grad-walk>%s',
    step, phase, escape(height), trace, data_address(picture), caption, module())
  return { pandoc.RawBlock("html", html), table.unpack(div.content) }
end

local function pictures(div, program, step, phase)
  local wanted = { { step, phase } }
  if div.attributes.steps == "all" then
    wanted = {}
    local _, count = export(program, "json"):gsub('"type":"step"', "")
    for number = 1, count do
      table.insert(wanted, { number, 5 })
    end
  end
  local is_latex = FORMAT:match("latex") or FORMAT:match("beamer")
  local format, media_type = "png", "image/png"
  if is_latex then
    format, media_type = "pdf", "application/pdf"
  end
  local blocks = {}
  for _, place in ipairs(wanted) do
    local body = export(program, format, place[1], place[2])
    local name = "gradwalk-" .. pandoc.utils.sha1(body) .. "." .. format
    pandoc.mediabag.insert(name, media_type, body)
    local image = pandoc.Image({ pandoc.Str(string.format("Step %d.%d", place[1], place[2])) }, name)
    image.attributes.width = "100%"
    table.insert(blocks, pandoc.Para({ image }))
  end
  for _, block in ipairs(div.content) do
    table.insert(blocks, block)
  end
  return blocks
end

local function forget()
  for _, path in pairs(traces) do
    os.remove(path)
  end
end

local function draw(div)
  if not div.classes:includes("gradwalk") then
    return nil
  end
  local program = div.attributes.program
  if not program then
    error('a .gradwalk block needs program="FILE.py" or a saved trace')
  end
  local step, phase = (div.attributes.step or "1.3"):match("^(%d+)%.?([1-5]?)$")
  if not step then
    error('step must look like "7.3": step 7, phase 3 of 5')
  end
  step, phase = tonumber(step), tonumber(phase) or 3
  if FORMAT:match("html") or FORMAT:match("revealjs") then
    return player(div, program, step, phase)
  end
  return pictures(div, program, step, phase)
end

return { {
  Pandoc = function(document)
    document = document:walk({ Div = draw })
    forget()
    return document
  end,
} }
