# What the page, pictures, slides, notebooks and the command line say, in English.
# Project Fluent. Backticks mark what is set as code; everything else that is code comes in as an operand.
# A sentence is at most 140 characters long with its operands filled in; where several say the same, the first that
# fits is taken.

## Phases

phase-start = start
phase-collect = collect
phase-local-rule = local rule
phase-multiply = multiply
phase-send = send
phase-land = land
phase-arrive = arrive
phase-compute = compute
phase-save = save

## Values

nothing = nothing
value-gradient = a gradient of shape { $shape }
value-unseen = ?
v-is = `v` = { $value }
v-of-shape = `v` of shape { $shape }
v-of-output = `v` = { $value } for { $output }
v-of-output-shape = `v` of shape { $shape } for { $output }

fact-unknown = A newer gradwalk made this trace, with a fact that this page has no words for ({ $kind }).

## Lists and names

code = `{ $text }`

and = { $first } and { $last }
comma = { $first }, { $rest }
semicolon = { $first }; { $rest }
then = { $first } { $rest }
and-more = { $first }, and { $count } more
result-in-line = the result of { $op } in line { $line }
result-of = the result of { $op }
result-born = the result of { $op } in the backward of line { $line }
call-in-line = `{ $call }` in line { $line }
node-in-line = { $op } (line { $line })

operand-grad-output = grad_output of pass { $pass }
operand-number = operand { $number }
operand-use = { $name }, use { $number }
constant = a constant

## What a local Jacobian looks like

structure-scalar = one number
structure-diagonal = diagonal: each entry scales only itself
structure-permutation = permutation: moves entries, changes none
structure-selection = selection: picks entries
structure-copies = each entry used several times: backward adds up over its uses
structure-scaled-copies = each entry used several times, each time with a factor: backward adds up `v` times the factors
structure-reduction = several entries go into each result: each gets its `v` times its weight
structure-sum = a sum: backward copies `v` to every entry
structure-share = a sum with one weight for all: every entry gets the same share of `v`
structure-weighted = a weighted sum: every entry gets `v` times its own weight
structure-kronecker = repeated blocks: a matrix product
structure-dense = no simple pattern: entries differ
structure-zero = all zeros: nothing passes back here
structure-too-large = too large to write out

## Before anything has run

start-program = Before the program: nothing is computed yet.
start-pass = Before the pass: it starts at { $names }; no gradient is computed yet.
start-output = the output
start-waiting = Waiting for the first backward pass.
start-none = The program made no backward pass.
start-raised = The program made no backward pass: { $title }.
step-awaited = This step has not arrived yet.
arrange-before = { $call } has its `v`. PyTorch first hands it on in shape { $shape } ({ $op }): the same numbers.
arrange-after = What { $call } returned is brought into shape { $shape } ({ $op }): the same numbers.
arrange-sum = What { $call } returned is added up over what was repeated, into shape { $shape } ({ $op }).
arrange-nothing = { $op }, a part of { $call }, has nothing to hand on.
inside-call = Inside { $call }: { $said }
inside-rule = { $op } is one part of it; the rule is that of all its parts together.

## 1 collect: what arrived at a node

collect-none = No gradient arrived at { $name }; undefined acts as zero.
collect-seed = The pass starts at { $name } with the seed `v` = { $v }.
collect-seed-shape = The pass starts at { $name } with a seed `v` of shape { $shape }.
collect-one = { $v } arrived at { $name }.
collect-used = { $name } was used { $count ->
    [2] twice
    [3] three times
   *[other] { $count } times
}: { $sum }.
collect-used-some = { $name } was used { $count ->
    [2] twice
    [3] three times
   *[other] { $count } times
}; gradients came from { $arrived } of these uses: { $sum }.
collect-seeds = The pass starts at { $name } with { $count } seeds: { $sum }.
collect-seed-and-uses = { $name } got { $count } gradients, { $seeds ->
    [one] the seed
   *[other] { $seeds } seeds
} among them: { $sum }.
collect-outputs = Of { $count } outputs of { $op }, { $arrived } received a gradient: { $list }.
collect-outputs-all = Each of the { $count } outputs of { $op } received a gradient: { $list }.
collect-outputs-each = All { $count } outputs received a gradient.
collect-outputs-count = Of { $count } outputs of { $op }, { $arrived } received a gradient.
collect-short = { $count ->
    [one] One gradient
   *[other] { $count } gradients
} arrived here.
sum-of-shapes = { $count } gradients of shape { $shape } are added up
value-at = { $value } at { $name }

## 2 local rule

rule-view-write = Part of a tensor was written over: the rest keeps its gradient, the part's goes to what was written.
rule-custom = `{ $op }.backward` is the rule: your own code ran.
rule-derivative = { $equations }.
rule-derivative-saved = { $equations }; { $saved }.
derivative-alone = the derivative is { $derivative }
derivative-by-use = through this use of { $name } the derivative is { $derivative }
saved-as = { $name } was saved as { $value }
saved-as-too = { $name } as { $value }
rule-same-operand = Both operands of { $output } are { $name }: the derivative for each use is { $derivative }.
rule-same-operand-saved = Both operands of { $output } are { $name }: the derivative for each use is { $derivative } = { $value }.
rule-number = At this point the derivative of { $op } is { $value }.
rule-vjp = { $products }.
rule-vjp-for = for { $name } the rule is { $rule }
rule-vjp-for-too = for { $name } it is { $rule }
rule-sum-all = { $op } adds up the entries of { $name }: every entry gets a copy of { $v }.
rule-sum-some = Each entry of { $op } is a sum over entries of { $name }: each of these gets a copy of its `v`.
rule-mean-all = { $op } averages the { $count } entries of { $name }: each gets { $v } divided by { $count }.
rule-mean-some = Each entry of { $op } averages { $count } entries of { $name }: each of these gets its `v` divided by { $count }.
rule-reduction = Several entries of { $name } go into each result: each gets the `v` of its result, times its weight.
rule-added = Several entries of { $name } were added up into each result: each gets the `v` of its result.
rule-overwritten = Several entries of { $name } were written to one place, where one stayed: backward gives its `v` to each.
rule-broadcast = { $name } was repeated to fit { $output }: the gradients of all copies are added up.
rule-repeated = Entries of { $name } were used several times: the gradients of all uses are added up.
rule-lookup-mean = Each row of { $name } gets the `v`'s of its uses, divided by how many these are.
rule-lookup-padding = Each row of { $name } gets the `v`'s of its uses, added up; row { $row } only fills up and gets 0.
rule-part-of = { $name } is part of { $output }: it gets its part of `v`.
rule-parts = Each operand is part of { $output }: it gets its part of `v`.
rule-selection = { $op } picked entries of { $name }: these get their `v`, the others 0.
rule-apart = { $op } took { $name } apart: the `v`'s of the parts are put together again.
rule-moves = { $op } moved the entries of { $name }: backward moves those of `v` back.
rule-reshape = { $op } left every entry of { $name } as it was: `v` goes through, in the shape of { $name }.
rule-diagonal = Each entry of { $name } has a derivative of its own: { $factors }.
rule-diagonal-many = Each entry of { $name } has a derivative of its own, and its own entry of `v` to multiply.
rule-zero = A small change of { $name } changes nothing here: its derivative is 0.
rule-jacobian = The local Jacobian of { $op } is { $rows } × { $columns }.
no-formula-failed = No formula is shown: evaluated on the saved values, the written one does not give what the engine returned.
no-formula-here = No formula is shown: none is written for { $op } with these operands.
no-formula-mask = No formula is shown: how a mask and further indices meet is known only while the program runs.
no-formula-matrix = No formula is shown: it needs a matrix per line, which would be too large.
no-formula-sizes = No formula is shown: the sizes of the other operands are not known here.
no-formula-scales = No formula is shown: a scale was given for some dimensions only.
no-formula-unrolled = No formula is shown: unrolled over all moments it would be too long to be read.
no-formula-window = No formula is shown: the node does not save how its operand lies in memory.
no-formula-yet = The formula is still being checked.
rule-plain = This is the rule of { $op }.

## 3 multiply

multiply-not-wanted = Nothing is multiplied: no operand of { $op } needs a gradient here.
multiply-nothing-arrived = Nothing is multiplied: no gradient arrived at { $op }.
multiply-returned-none = { $op } returned None: no gradient goes on from here.
multiply-returned-undefined = { $op } returned nothing: no gradient goes on from here.
multiply-products = { $products }.
product-for = for { $name }: { $product }
product-each = { $product } for each use of { $name }
multiply-custom-returned = `{ $op }.backward` returned { $results }.
multiply-returned = { $op } returned { $results }.
multiply-custom = `{ $op }.backward` turned { $v } into { $results }.
multiply-matrices = { $products }.
matrix-product = { $rule } is { $left } @ { $right } = { $shape } for { $name }
multiply-rule = With { $v }, { $rule } gives { $result }.
multiply-entries = Entry by entry, { $v } times { $derivative } gives { $result }.
multiply-jacobian = { $v } times the local Jacobian gives { $results }.
multiply-jacobians = { $vs }, each times its local Jacobian, add up to { $results }.
multiply-shape = { $v } times the local Jacobian gives a gradient of shape { $shape }.
multiply-unbuilt = { $v } times J gives { $results }. J itself would take { $full }: it is never built.
multiply-shapes = { $v } times the local Jacobians gives gradients of shapes { $shapes }.
multiply-count = { $count ->
    [one] One gradient is returned.
   *[other] { $count } gradients are returned.
}
multiply-placed = { $v } goes back to where its entries came from: { $result }.
result-for = { $value } for { $name }

## 4 send and 5 land

send-none = nothing is sent on.
send-list = { $list }.
goes-to = { $value } goes to { $name }
go-to = { $values } go to { $name }
send-returned-none = { $op } returned None for { $name }
send-not-required = { $name } does not require grad
send-each = a gradient goes to each of { $names }.
send-count = { $count } gradients are sent on, one per operand.
land-none = Nothing lands: no gradient left this node.
land-list = { $list }.
waits-at = { $value } waits at { $name }
wait-at = { $values } wait at { $name }
land-each = A gradient waits at each of { $names }.
land-count = { $count } gradients land, one per operand.

leaf-first = `{ $leaf }.grad` was None, now it is { $after }.
leaf-first-short = `{ $leaf }.grad` was None and is set now.
leaf-added = `{ $leaf }.grad`: { $sum }.
leaf-changed = `{ $leaf }.grad` was { $before }, now it is { $after }.
leaf-added-shape = { $arrived } is added to `{ $leaf }.grad`.
leaf-none = `{ $leaf }.grad` is still None.

## What happened beside the rule

hook-in-line = the hook in line { $line }
hook-somewhere = a hook
shared-write = the write in line { $line } to a tensor that it shares
shared-write-somewhere = a write to a tensor that it shares
hook-made = { $who } made it { $value }
hook-changed = { $who } changed it
hook-cleared = { $who } set it to None
fact-hooks = Then { $list }.
fact-at = at { $name }, { $made }
fact-seed-cast = The seed is { $from }; the engine cast it to { $to }.
fact-zeros = Nothing arrived at { $name }; { $rule } gets zeros.
fact-saved-was = { $name } held { $was } when it was saved and holds { $now } now, written behind autograd's back: backward computes with { $now }.
fact-saved-changed = { $name } was written behind autograd's back after it was saved: backward computes with the new values.
fact-changed = { $rule } returned { $before } for { $name }; { $changes }
change-sum = the engine summed it to { $value }
change-cast = the engine cast it to { $dtype }, { $value }
entry-of = { $name } at { $entry }
fact-nan = `v` is 0 and `J` infinite for { $where }: 0 · ∞ = NaN.
fact-nans = `v` is 0 and `J` infinite for { $where } and { $count } more: 0 · ∞ = NaN.
fact-dropped = { $rule } computed { $value } for { $name } too; the engine drops it.

pass-examples = `vmap` runs { $count } examples at once: each has its own `v`, its own local Jacobians and its own result.
pass-materialized = Nothing arrived at { $names }: `materialize_grads=True` made zeros of that.
input-number = input { $number }
chip-now = now
chip-behind = written behind autograd's back
problem-caught = The program caught this error and went on.

whole = { $op }: { $came } came in; { $then }
whole-nothing = { $op }: nothing came in; { $then }
whole-gradients = { $count } gradients

## The forward walk

forward-called = { $op } is called.
forward-gets = { $op } gets { $operands }.
forward-computes = { $op } computes { $results }.
forward-computes-result = { $op } computes its result.
forward-result = its result
forward-is = { $name } = { $value }
forward-shape = { $name } of shape { $shape }
forward-saves = { $op } saves { $tensors } for backward.
forward-saves-besides = { $op } saves { $tensors } for backward, and { $count ->
    [one] one plain value
   *[other] { $count } plain values
}.
forward-saves-plain = { $op } saves no tensor for backward, only { $count ->
    [one] one plain value
   *[other] { $count } plain values
}.
forward-saves-nothing = { $op } saves nothing for backward.
forward-raises = { $op } raises: { $title }.

## Where a derivative comes from

jacobian-own = J of your backward
jacobian-true = true J = { $partial }, by finite differences of forward
origin-table = PyTorch { $version } has this operation in `derivatives.yaml`.
origin-no-line = `derivatives.yaml` of PyTorch { $version } has no line for this node.
origin-choice = Write a Function for code outside torch (NumPy, C++) or for another gradient; torch code is composite, PyTorch’s own is in `derivatives.yaml`.
origin-composite = { $label } is composite in PyTorch { $version } (CompositeImplicit, or Python): built of other operations, each with a derivative of its own.

## Warnings

warning-times = { $category }, { $count } times

## Asking

hint-shape = A shape, such as [3, 2].
hint-sign = Choose one.
hint-nodes = Tick at least one.
hint-number = A number, such as 6 or −0.5.
hint-numbers = { $count } numbers, such as { $sample }.

## Problems: what stopped the program (a sentence, a title, a hint)

problem-words = The error reads: “{ $words }”
problem-raised = “{ $text }”
    .title = { $name }
problem-raised-near = “{ $text }”
    .title = { $name }
    .hint = Did you mean `{ $near }`?
problem-raised-silent = The program raised `{ $name }`.
    .title = { $name }
problem-unknown-name = Python says: “{ $text }”
    .title = Unknown name
    .hint = { $instead }
problem-assign-first = Assign it before it is used, or import it.
problem-import-first = Write `{ $line }` at the top of the program.
problem-name-near = Did you mean `{ $name }`?
problem-exited-with = It called `sys.exit` or `exit` with `{ $code }`. What ran before is shown; a backward pass that would have followed is not.
    .title = The program ended itself
    .hint = Remove the call of `exit`.
problem-out-of-time = The program ran longer than it may. What was recorded until then is shown.
    .title = Out of time
    .hint = Use fewer iterations or smaller tensors, or see whether a loop waits for what never happens.
problem-interrupted = The program was interrupted. What was recorded until then is shown.
    .title = Interrupted
problem-recursion = A function calls itself, directly or through others, until Python gives up after about a thousand nested calls.
    .title = Calls nested too deeply
    .hint = Check the condition that should end the recursion, or use a loop.
problem-recursion-recorded = The program's functions call each other so deeply that Python has no room left for recording it. What is shown before this is right; what the program did afterwards is not recorded.
    .title = { problem-recursion.title }
    .hint = { problem-recursion.hint }
problem-memory = The program asked for more memory than it may have.
    .title = Out of memory
    .hint = Use smaller tensors or shorter lists.
problem-memory-tensor = The program asked for a tensor that is larger than the memory it may have.
    .title = { problem-memory.title }
    .hint = Use smaller shapes.
problem-memory-recorded = The program and the record of what it does need more memory than they may have. What is shown before this is right; what the program did afterwards is not recorded.
    .title = { problem-memory.title }
    .hint = Use smaller tensors, shorter lists or fewer iterations.
problem-internal = While recording, gradwalk itself failed with `{ $name }`. The program ran on; what is shown before this is right.
    .title = This is a fault of gradwalk, not of the program
    .hint = Please report it together with the program.
problem-internal-in = While recording, gradwalk itself failed with `{ $name }` in `{ $function }`, line { $line }. The program ran on; what is shown before this is right.
    .title = { problem-internal.title }
    .hint = { problem-internal.hint }
problem-intrusion = gradwalk reads the attributes of each tensor to record it. That ran this line of the program, which raised `{ $name }`. The program ran on; what is shown before this is right.
    .title = { $name } in code that ran while gradwalk was recording
    .hint = Give properties that you put on tensors another name than torch's own, or let them not raise.
problem-no-memory = Some tensors here have no numbers of their own to record: the `__torch_dispatch__` of their class computes with others. The program ran on; what is shown before this is right.
    .title = Tensors without memory cannot be recorded
    .hint = Compute with ordinary tensors; a `TorchDispatchMode` sees their calls too.
problem-interpreter-broken = This program replaced or removed `{ $what }`. gradwalk records in the same interpreter and needs it, so recording failed. What is shown before this is right.
    .title = The program broke the interpreter that records it
    .hint = Leave `{ $what }` as it is, or put it back before the next tensor operation.

problem-too-many-nodes = This backward pass walks more than { $count } autograd nodes. It was run, but not recorded.
    .title = The graph is too large to show
    .hint = Use fewer iterations or a smaller model: the rules at each node stay the same.
problem-first-nodes = This backward pass walks { $count } autograd nodes. The { $first } that run first are recorded, with all their gradients; the others ran without being recorded.
    .title = Only the first part of the graph is shown
    .hint = Use fewer iterations or a smaller model, or call backward on an intermediate result to see a later part.
problem-too-many-steps = The first { $count } steps are shown. The program ran on without being recorded.
    .title = Too many steps to show
    .hint = Use fewer iterations or a smaller model.
problem-too-much-printed = Only the first { $count } characters are shown; the program ran on.
    .title = The program printed too much
    .hint = Print less, for example the shape of a tensor or its mean, or print only every hundredth step.

problem-a-node = a node
problem-saved-tensors = its saved tensors
problem-a-tensor = a tensor
problem-an-operation = an operation
problem-this-tensor = this tensor
problem-argument = argument `{ $name }`
problem-argument-number = argument number { $number }
problem-the-call = the call
problem-the-call-in-line = the call in line { $line }

problem-freed = { $node } needs { $saved } again, which an earlier backward freed.
    .title = Backward a second time through the same graph
    .hint = Pass `retain_graph=True` to the first backward, or compute the output anew before the second one.
problem-freed-in-line = { $node } needs { $saved } again, which an earlier backward freed in line { $line }.
    .title = { problem-freed.title }
    .hint = { problem-freed.hint }
problem-freed-in-loop = { $node } needs { $saved } again, which the same backward call in line { $line } freed before.
    .title = { problem-freed.title }
    .hint = Compute the output anew in each turn, from `h.detach()` of what the turn before handed on.
problem-changed-in-place = { $node } saved { $tensor } at version { $saved }. Then { $writes } wrote into it, and it is now at version { $now }: the gradient would be wrong.
    .title = A saved tensor was changed in place
    .hint = Write the changed value to a new tensor (`y = y + 1` instead of `y += 1`), or change it before it is used.
problem-changed-in-place-part = { problem-changed-in-place }
    .title = { problem-changed-in-place.title }
    .hint = Join parts by `torch.stack` or `torch.cat`, or write into a copy (`.clone()`).
problem-grad-shape = The gradient for { $argument } has shape { $got }; it should be { $expected }, the shape of the argument itself: backward returns `v` times J, which has one number per entry of the argument, not the Jacobian.
    .title = { $function }.backward returned a gradient of the wrong shape
    .hint = { $about ->
        [order] It has the shape of another argument. Return the gradients in the order of forward's arguments.
        [transposed] It is transposed: for `x @ w.t()` the gradient of `w` is `grad_output.t() @ x`.
       *[other] Multiply `grad_output` by the local derivative and sum over the output's axes, so that the result has shape { $expected }.
     }
problem-grad-count = It returned { $got }; it should return { $expected }, one for each argument of forward, because the engine pairs them by position.
    .title = { $function }.backward returned the wrong number of gradients
    .hint = Return None for an argument that needs no gradient, such as a number or a flag. Return several as a tuple: a list counts as one.
problem-grad-count-named = It returned { $got }; it should return { $expected }, one for each argument of forward ({ $names }), because the engine pairs them by position.
    .title = { $function }.backward returned the wrong number of gradients
    .hint = { problem-grad-count.hint }
problem-grad-not-none = Forward's { $argument } is not a tensor, so nothing can be done with a gradient for it.
    .title = { $function }.backward returned a gradient for what is no tensor
    .hint = Return None in its place. Tensors in a list get gradients as arguments of their own: `Total.apply(*tensors)`.
problem-grad-no-tensor = It returned a `{ $got }`; the engine takes a tensor for each argument of forward, or None.
    .title = { $function }.backward returned something that is no tensor
    .hint = Return tensors, for example by multiplying `grad_output`, which is one.
problem-grad-kind = The gradient for { $argument } has the { $what } `{ $got }`; it should be `{ $expected }`, that of the argument itself: it is added to its other gradients.
    .title = { $function }.backward returned a gradient of the wrong { $what }
    .hint = Return a gradient with the { $what } `{ $expected }`.
problem-grad-complex = The gradient is complex but the argument is real (or it holds whole numbers), and there is no way to turn one into the other without losing something.
    .title = { $function }.backward returned a gradient of the wrong dtype
    .hint = Return a gradient of the argument's own dtype, for example with `.real`.
problem-nan-returned = { $node } returned NaN for { $operand }, and `detect_anomaly` ends the pass there: its slope is no number at this point.
    .title = A node returned NaN
    .hint = Look at its operand: a square root or logarithm of a negative number, or 0 times infinity, does that.
problem-hook-value = What a hook returns takes the gradient's place, so it must have the same { $what }; `{ $hook }` changed it.
    .title = A hook changed the { $what } of a gradient
    .hint = Return a tensor like the one that was given, or nothing to leave the gradient as it is.
problem-hook-count = The hook returned { $got } where the node has { $expected }: one for each of its inputs, None where no gradient goes.
    .title = A hook returned the wrong number of gradients
    .hint = Return a tuple like the one that was given, or nothing to leave the gradients as they are.
problem-hook-tensor = What a hook returns takes the gradient's place, so it must be a tensor; it returned `{ $got }`.
    .title = A hook returned something that is no tensor
    .hint = { problem-hook-value.hint }
problem-hook-tuple = The hook of a node returns a tuple with one gradient for each input of the node; it returned `{ $got }`.
    .title = A hook returned something that is no tuple
    .hint = { problem-hook-count.hint }
problem-not-scalar = The output has more than one entry, so there is no single number whose gradient could be meant: backward computes `v` times the Jacobian, and `v` (`grad_output`) must have the output's shape.
    .title = backward() needs to know v for this output
    .hint = Reduce it to a scalar with `.sum()` or `.mean()`, or pass `gradient=torch.ones_like(y)`.
problem-seed-shape = The external gradient `v` has shape { $got }, the output has shape { $expected }. `v` holds one number per entry of the output, so the shapes must be equal.
    .title = A grad_output of the wrong shape
    .hint = Give `v` the shape { $expected }.

problem-no-history = Tensor number { $index } given to backward has no history: no tensor that requires grad went into it, or it was cut off by detach, no_grad, .data, .item or a conversion to whole numbers.
    .title = Nothing here is differentiable
    .hint = Create an input with `requires_grad=True` and keep every step from it to the output in torch.
problem-no-history-plain = { $tensor } comes from { $call }, which ran without `create_graph=True`: it gave plain numbers, so there is nothing to differentiate a second time.
    .title = { problem-no-history.title }
    .hint = Pass `create_graph=True` to { $call }.
problem-no-history-constant = { $tensor } was computed by { $call } with `create_graph=True`, but { $because }
    .title = { problem-no-history.title }
    .hint = Check what backward does there with values that depend on the inputs.
problem-because-cut = it has no history. { $message }
problem-because-once = the backward of `{ $function }` is marked `@once_differentiable`: it runs without grad mode, and what it returns cannot be differentiated again.
problem-because-linear = nothing that it was computed from requires grad: the derivative does not depend on the inputs (that of a linear function is a constant), or a custom backward used only numbers without a history.
problem-no-history-cut = { $tensor } comes from { $call }, which gives a tensor without a history.
    .title = { problem-no-history.title }
    .hint = Leave that out, so that every step from the input to the output is in the graph.
problem-no-history-inside = { $tensor } comes from { $call }, which got no tensor that requires grad as an argument: what it took from a list, a dict or from outside is a constant.
    .title = { problem-no-history.title }
    .hint = Give `apply` each tensor by itself: `Scale.apply(x, w)`, `Total.apply(*tensors)`. backward returns a gradient for each.
problem-no-history-listed = { $tensor } comes from { $call }, whose forward returns a list or a dict: what is in it gets no history.
    .title = { problem-no-history.title }
    .hint = Return several tensors as a tuple: `return a, b`.
problem-no-history-last-cut = { $tensor } has no history: { $call } took the last thing out of the graph before it, or no tensor that requires grad went into it.
    .title = { problem-no-history.title }
    .hint = Create an input with `requires_grad=True` and keep every step from it to the output in torch.

problem-nothing-required = { $names } requires grad, but the program computes nothing differentiable from it.
    .title = Nothing is differentiable
    .hint = Compute something from it that stays in torch: detach, no_grad, .item() and whole numbers cut it off.
problem-nothing-cut = { $names } requires grad, but the program computes nothing differentiable from it: { $call } cuts it off.
    .title = { problem-nothing-required.title }
    .hint = { problem-nothing-required.hint }
problem-forward-mode = { $calls } is forward mode: tangents run along with the values, J times a change. Nothing runs backward.
    .title = Forward mode: nothing runs backward
    .hint = Give an input `requires_grad=True` and leave the call out to see the graph.
problem-forward-mode-tangents = { $calls } is forward mode: tangents run along with the values, J times a change. Nothing runs backward. It computed { $tangents }.
    .title = { problem-forward-mode.title }
    .hint = { problem-forward-mode.hint }
note-forward-mode = { problem-forward-mode } Its function is drawn with leaves: Nudge goes forward, the pass backward.
note-forward-mode-tangents = { problem-forward-mode-tangents } Its function is drawn with leaves: Nudge goes forward, the pass backward.
forward-mode-tangent = `{ $name }` = { $value }
problem-nothing-real = The result holds `{ $dtype }` values, which cannot have a gradient.
    .title = Nothing is differentiable
    .hint = { problem-nothing-made.hint }
problem-nothing-recorded = None of the program's tensors requires grad, so PyTorch recorded no history to walk back through.
    .title = Nothing is differentiable
    .hint = { problem-nothing-made.hint }
problem-nothing-called = Nothing calls `{ $name }`, so none of its lines ran.
    .title = Nothing called `{ $name }`
    .hint = Add a call below it: `{ $call }`
problem-nothing-numpy = The program computes with NumPy, which records no history: there is no graph to walk.
    .title = NumPy has no autograd
    .hint = Make the inputs with `torch.tensor(..., requires_grad=True)` and use torch's functions of the same names. A backward written by hand can be checked here as the `backward` of a `torch.autograd.Function`.
problem-nothing-made = The program makes no tensors, so there is no graph to walk.
    .title = Nothing is differentiable
    .hint = Create an input with `requires_grad=True`, for example `x = torch.tensor([1., 2.], requires_grad=True)`.

problem-no-pass = No backward pass ran while this was recorded.
    .title = Nothing ran backward
    .hint = Call `.backward()` or `torch.autograd.grad` inside the `with`.
problem-no-backward = `.backward()` starts at a tensor; a plain `{ $type }` has no history to walk back through.
    .title = A plain `{ $type }` has no backward
    .hint = { $about ->
        [call] The parentheses are missing that call it: `(x * x).sum().backward()`.
        [loss] This makes the loss; call it with the output and the target: `nn.MSELoss()(output, target).backward()`.
        [several] Take the tensor out of it: `y, = (…)`, `losses[0]`, `out["loss"]`.
       *[number] Call it on the tensor that was computed from the leaves.
     }
problem-no-backward-cut = `.backward()` starts at a tensor; a plain `{ $type }` has no history. The last call that took something out of the graph is { $call }.
    .title = { problem-no-backward.title }
    .hint = Keep the tensors, add them up with torch, and call `.backward()` on the sum; take numbers out only for printing.
problem-leaf-in-place = Its old value may be needed for the backward pass, and there is no node that could record the change.
    .title = A leaf that requires grad cannot be changed in place
    .hint = Change it where nothing is recorded: `with torch.no_grad():` around `w -= lr * w.grad`. `w = w - lr * w.grad` is no way out: its result is no leaf, so the next backward leaves no `.grad` there.
problem-input-number = Input number { $number } of `torch.autograd.grad`
problem-unused-input = { $input } is not on any path of the graph.
    .title = The output does not depend on one of the inputs
    .hint = Pass `allow_unused=True` to get None for it, or check where it drops out of the computation.
problem-unused-input-because = { $input } is not on any path of the graph. { $because }
    .title = { problem-unused-input.title }
    .hint = { problem-unused-input.hint }
problem-input-not-required = Only tensors that require grad, and what is computed from them, are in the graph.
    .title = An input of torch.autograd.grad does not require grad
    .hint = Create it with `requires_grad=True` before it is used.
problem-whole-numbers = Only floating-point and complex tensors can require grad: a derivative needs values that can change by a little.
    .title = Whole numbers have no gradient
    .hint = Write 1.0 instead of 1, or pass `dtype=torch.float32`.
problem-no-input = `input()` waits for somebody at a keyboard, and nobody is there.
    .title = Nobody answers `input()` here
    .hint = Assign a value instead (`x = 2.0`): numbers of the program become sliders below it.
problem-no-file = `{ $file }` is not here: a program that runs for a stranger has no files.
    .title = There are no files here
    .hint = Write the numbers into the program, or take random ones of the same shape: `torch.randn(64, 10)`.
problem-no-file-data = `{ $file }` is not here: a program that runs for a stranger has no files.
    .title = There are no files here
    .hint = Take random data of the same shape: `{ $instead }`. The graph and the rules are the same.
problem-no-files = The program asks for a file, and a program that runs for a stranger has none.
    .title = There are no files here
    .hint = Write the numbers into the program, or take random ones of the same shape: `torch.randn(64, 10)`.
problem-no-network = The program asks for the network, and a program that runs for a stranger has none.
    .title = There is no network here
    .hint = Write the numbers into the program, or take random ones of the same shape: `torch.randn(64, 10)`.
problem-no-library = `{ $library }` is not installed here: a program has PyTorch, NumPy and Python's own library.
    .title = `{ $library }` is not here
    .hint = Write the few lines that you need of it with torch, or run the program on your own machine: `gradwalk trace program.py`.
problem-no-library-data = `{ $library }` is not installed here: a program has PyTorch, NumPy and Python's own library.
    .title = `{ $library }` is not here
    .hint = Take random data of the same shape: `{ $instead }`. The graph and the rules are the same.
problem-no-processes = The program starts a thread or a process, and here it has only its own.
    .title = There is one thread here
    .hint = Call the function itself, in a loop: the gradients are the same.
problem-not-allowed = The system refused what the program asked for: here it can compute, and reaches nothing else.
    .title = Not allowed here
    .hint = Leave the line out, or run the program on your own machine: `gradwalk trace program.py`.
problem-no-gpu = The program asks for a GPU; here PyTorch runs on the CPU, where the graph and its gradients are the same.
    .title = There is no GPU here
    .hint = Leave out `.cuda()` and `.to("cuda")`, or choose: `device = "cuda" if torch.cuda.is_available() else "cpu"`.
problem-matrix-shapes = The shapes are { $left } and { $right }: the inner sizes ({ $columns } and { $rows }) must be equal.
    .title = These matrices cannot be multiplied
    .hint = { $about ->
        [backward] A gradient has the shape of its argument: those of `a @ b` are `g @ b.T` and `a.T @ g`.
       *[other] Transpose one of them (`.T`), or check the sizes where they are made.
     }
problem-broadcast = Sizes { $left } and { $right } meet in axis { $axis }; they must be equal, or one of them must be 1.
    .title = These shapes do not fit together
    .hint = Print the shapes, and use `unsqueeze` or `reshape` where an axis is missing.
problem-target-too-large = Target { $target } asks for the score of class { $target }. Classes count from 0: scores with C columns have classes 0 to C − 1.
    .title = A target is no class of the scores
    .hint = Count the targets from 0, or give the scores at least { $columns } columns.
problem-target-negative = Target { $target } asks for the score of class { $target }. Classes count from 0: scores with C columns have classes 0 to C − 1.
    .title = A target is no class of the scores
    .hint = Targets are 0 or more; name another one with `ignore_index` to leave entries out.
problem-no-such-row = An embedding has `num_embeddings` rows, with indices from 0 to `num_embeddings - 1`.
    .title = An index is outside of the table
    .hint = Give the embedding a `num_embeddings` larger than the largest index, or look where that index comes from.
problem-module-init = A module keeps its parameters and layers in tables that `nn.Module` makes in its own `__init__`, which was not called.
    .title = The module was not set up
    .hint = Begin `__init__` with `super().__init__()`.
problem-no-parameters = An optimizer was made with no parameters: the module has none that it knows of.
    .title = Nothing to optimise
    .hint = Layers in a plain list or dictionary are not found: use `nn.ModuleList`, `nn.ModuleDict` or `nn.Parameter`.
problem-two-dtypes = One holds numbers of type { $left }, the other of type { $right }.
    .title = These numbers are of two types
    .hint = Convert one of them: `.float()`, or `.to(other.dtype)`. numpy's numbers are double, torch's are float.
problem-target-class = The targets have the type { $dtype }. This loss takes the number of each row's class.
    .title = A target must be the number of a class
    .hint = Convert them: `targets.long()`.
problem-target-dtype = The targets have the type { $dtype }; this loss takes { $expected }.
    .title = Targets of another type
    .hint = Convert them, as with `targets.float()`.
problem-optimizer-result = An operation computed this tensor. An optimizer changes leaves, which get a `.grad` and keep their value.
    .title = An optimizer takes leaves only
    .hint = Give it the leaf that this was computed from, or make this a leaf: `(0.1 * torch.randn(3)).requires_grad_()`.
problem-complex-output = A complex output has no direction in which it grows: backward needs a real one, or `v`.
    .title = Backward needs a real output
    .hint = Take `.abs()` or `.real` of it, or pass `gradient=torch.ones_like(y)`.
problem-views-in-place = The operation gave several views of one tensor at once; the engine cannot record a write into one of them.
    .title = One of several views cannot be changed in place
    .hint = Write the result to a new tensor instead.
problem-needs-detach = numpy would not record what is done with the numbers, so the gradient would silently be lost.
    .title = A tensor in the graph cannot become a numpy array
    .hint = Use `.detach().numpy()` if no gradient is wanted from here on.
problem-target-columns = This loss takes the number of each row's class, in one axis.
    .title = { problem-target-class.title }
    .hint = Drop the column: `targets.long().squeeze(-1)`. Of one-hot rows take the class: `targets.argmax(-1)`.
problem-view-size = Shape { $shape } cannot hold { $count } entries.
    .title = { problem-broadcast.title }
    .hint = The sizes must multiply to { $count }; one of them may be -1, as in `x.reshape(len(x), -1)`.
problem-several-numbers = One number is asked for here, and the tensor has several.
    .title = Several numbers where one is asked for
    .hint = { $about ->
        [loss] A loss is made first, then called: `nn.MSELoss()(y, t)`.
        [truth] Ask for `(x > 0).all()` or `.any()`; choose entry by entry with `torch.where(x > 0, x, 0 * x)`.
       *[number] Take one entry, the `.sum()` or the `.mean()`; for every entry use torch's function, as `torch.sqrt(x)`.
     }
problem-size = `{ $what }` must be { $expected }; here it is { $got }.
    .title = { problem-broadcast.title }
    .hint = { $about ->
        [linear] Make the layer with `in_features={ $got }`; flatten an image before it: `x.flatten(1)`.
        [target] Give both the same shape: `scores.squeeze(-1)` drops a last axis of 1, `targets.unsqueeze(-1)` adds one.
        [rows] Give each row of the scores one target.
        [classes] The classes are axis 1 of the scores: `scores.transpose(1, 2)` where they come last.
        [conv] Make the layer with `in_channels={ $got }`, or move the channels with `permute`.
        [axes] Add the missing axis with `x.unsqueeze(0)`: the channels, then the batch.
        [stack] Print the shapes; cut, pad or transpose one of the tensors.
        [features] Make the layer with the size that the input has.
        [vectors] Give both vectors one length.
        [mask] Make the mask from the tensor itself: `x[x > 0]`.
        [hidden] It is [layers, batch, hidden_size]; leave it away to begin with zeros.
        [grad] `.grad` has the shape of its tensor.
       *[other] Transpose one of them (`.mT`), or check the sizes where they are made.
     }
problem-refused = “{ $text }”
    .title = This does not work this way
    .hint = { $about ->
        [view] Use `.reshape(...)`: it copies the entries where a view cannot do.
        [batch] BatchNorm takes mean and variance over the batch: give it two rows or more, or call `.eval()` on the model before.
        [forward] Write `def forward(self, x):` in the class; check its spelling and that it is indented as a method.
        [apply] Write `.apply`, without making an instance: `Square.apply(x)`. It brings the `ctx` along. Both methods are `@staticmethod`.
        [indices] Convert the indices: `indices.long()`. A mask is converted with `.bool()`.
        [derivative] Use `.detach()` on the operand if no gradient is wanted, or write a `torch.autograd.Function` with a backward of your own.
        [inference] Copy the tensor outside of `inference_mode`: `x = x.clone()`. Or use `torch.no_grad()` instead.
        [copy] Copy the numbers: `y.detach().clone()`.
        [parameter] Change the numbers of the parameter: `with torch.no_grad(): layer.weight.copy_(new)`. Or assign `nn.Parameter(new)`.
        [list] Put it into a list: `[w]`.
        [kernel] Take a smaller kernel, a larger image, or `padding`.
        [axis] Add the missing axis with `unsqueeze`, or use `torch.stack`.
        [leaf] `y = y.detach()` takes a result out of the graph; leaves alone can be switched.
        [seed] Give a tensor of the output's shape, one for each output: `y.backward(torch.tensor([0.2, 0.8]))`.
        [backward] Add `@staticmethod` `def backward(ctx, grad_output)`: it returns a gradient for each argument of forward.
        [ctx-first] `apply` hands `ctx` on and then what it got itself: `@staticmethod` `def forward(ctx, x)`, without `self`.
        [grad-outputs] backward gets `ctx` and one gradient for each output of forward: `def backward(ctx, grad_a, grad_b)`.
        [function] Write `@staticmethod` `def forward(ctx, x):` in the class; check its spelling.
        [save] Give it tensors one by one: `ctx.save_for_backward(x, y)`. Keep what is no tensor on `ctx` itself: `ctx.k = k`.
        [ctx] Keep in forward what backward needs: tensors with `ctx.save_for_backward(x)`, all else as in `ctx.k = k`.
        [tuple] This is a tuple, also where it holds a single tensor. Take the tensor out: `x, = ctx.saved_tensors`, `g, = torch.autograd.grad(y, x)`, or `out, (h, c) = lstm(x)`.
        [results] Two tensors came back together. Take one: `x.max(dim=1).values`, or `values, indices = x.max(dim=1)`.
        [required] Create an input with `requires_grad=True` before this is computed from it.
        [zero-grad] `x.grad = None` forgets the gradient; `zero_grad()` is a method of modules and optimizers.
        [out] Leave `out` away: `y = torch.add(a, b)`.
        [state] Make the model with the layers and sizes that were saved; compare the names in `model.state_dict()`.
        [module] Put a module there: `nn.ReLU()` instead of `torch.relu`; for a Function of your own, one whose forward calls its `apply`.
        [heads] Each head gets `embed_dim / num_heads` columns: 6 columns can have 1, 2, 3 or 6 heads.
        [expand] Only an axis of size 1 can be expanded; the last axes stand below each other. `x.unsqueeze(0)` adds one in front.
        [einsum] Each tensor has its letters, one for each axis, between commas: `torch.einsum('ij,jk->ik', a, b)`. A letter has one size.
        [permute] Name each axis once: `x.permute(0, 2, 1)`. `x.transpose(1, 2)` exchanges two.
        [dimension] Axes are counted from 0, or from the end: -1 is the last. `x.unsqueeze(0)` adds one in front.
        [index] Entries are counted from 0: of three the last is 2, or -1.
        [scalar] It is a single number without an axis: use it as it is, or give it one with `.unsqueeze(0)`.
        [dot] `a @ b` multiplies matrices; `(a * b).sum()` adds up the products of all entries.
        [matrix] `a @ b` multiplies vectors, matrices and batches of them; `.mT` transposes the last two axes.
        [sequence] Put them into a list: `torch.cat([a, b])`.
        [condition] Write a condition: `torch.where(x > 0, a, b)`.
        [singular] Check the matrix, or add to its diagonal: `A + 1e-3 * torch.eye(len(A))`.
        [saved] Take out as many as forward saved: `ctx.save_for_backward(x, y)`, then `x, y = ctx.saved_tensors`. Save them in one call: the last one counts.
        [pair] An LSTM starts from two tensors, as a pair: `lstm(x, (h, c))`.
        [dtypes] { problem-two-dtypes.hint }
        [write] One entry takes one number; several are written to a part: `y[0:2] = …`.
        [own-grad] `.grad` takes None, or a tensor of the shape of its own: `x.grad = torch.zeros_like(x)`.
        [no-grad] Tensors have a `.grad`; those of a module are its parameters: `layer.weight.grad`.
        [ragged] Give all rows the same length.
        [tensor] Make a tensor of it: `torch.tensor(…)`; of an array of numpy `torch.from_numpy(…).float()`.
        [keyword] Write `torch.tensor([1.0, 2.0], requires_grad=True)`: `tensor` with a small t, `requires_grad` with an s.
       *[mean] Convert to floats first: `x.float()`.
     }

problem-no-grad-fn = { $about ->
        [leaf] `{ $name }` is a leaf: no operation computed it, so it has no `grad_fn`. Its gradient ends in `{ $name }.grad`.
       *[plain] `{ $name }` does not require grad, so no operation was recorded for it.
     }
    .title = `{ $name }.grad_fn` is None
    .hint = { $about ->
        [leaf] Ask a result that was computed from it: `({ $name } * 2).grad_fn`.
       *[plain] Create an input with `requires_grad=True` before `{ $name }` is computed from it.
     }
problem-grad-none-result = `{ $name }` is no leaf: an operation computed it, so backward leaves nothing in its `.grad`.
    .title = `{ $name }.grad` is None
    .hint = Change the leaf in place instead of computing a new tensor: `with torch.no_grad():` around `{ $name } -= lr * { $name }.grad`. Or call `{ $name }.retain_grad()` before backward.
problem-grad-none-not-required = `{ $name }` does not require grad, so no backward pass leaves anything in its `.grad`.
    .title = `{ $name }.grad` is None
    .hint = Create it with `requires_grad=True`, or call `{ $name }.requires_grad_()` before it is used.
problem-grad-none-before = No backward pass has left a gradient in `{ $name }.grad` before this line, or `zero_grad()` took it away.
    .title = `{ $name }.grad` is None
    .hint = Call `backward()` on a result of it before this line, and `zero_grad()` after it.
problem-forward-nothing = `{ $function }.forward` (line { $line }) returns None.
    .title = { $function }.forward has no result
    .hint = End it with `return` and the result.

problem-input = { $problem }
    .title = An input cannot be used
    .hint = A number such as 2.0, or nested lists of equal length such as `[[1, 2], [3, 4]]`.
problem-input-form = `{ $name }` must be a number, nested lists, or an object with `value`, `requires_grad` and `dtype`.
problem-input-dtype = `{ $name }` has the dtype `{ $dtype }`, which torch does not have; `float64` is one, for example.
problem-input-computed = `{ $name }` is computed by the program from other tensors, so it cannot be set from outside.
problem-input-no-tensor = `{ $name }` cannot be read as a tensor: { $reason }.
problem-input-no-number = `{ $name }` cannot be read as a tensor: { $text } is not a number.
problem-input-seed-own = The program’s own v has shape { $expected }, the one from the page { $got }: backward needs a number for each of the output.
problem-input-seed-shape = `grad_output` has shape { $got }, but the output has shape { $expected }: `v` holds one number per entry of the output. (Shape [m, { $sizes }] gives m rows at once.)
problem-input-seed-scalar = `grad_output` has shape { $got }, but the output is a scalar, of shape { $expected }: `v` is one number. (Shape [m] gives m rows at once.)

problem-program-long = The program is { $bytes } bytes long; at most { $count } are read.
    .title = The program is too long
    .hint = Keep the part whose backward pass you want to see.
problem-program-empty = There is no statement in the program, so nothing was computed and there is no graph to walk.
    .title = The program is empty
    .hint = Type an expression such as `sin(x*y) + x`, or open an example.
problem-nested = The expressions are nested so deeply that Python's own parser gives up.
    .title = Nested too deeply
    .hint = Give names to parts of the expression, or build a long sum in a loop.
problem-nul = The program holds a NUL byte, which is not text.
    .title = This is not valid Python
    .hint = Delete the character; it often comes with copying from another program.
problem-surrogate = The program holds half of a surrogate pair, which is not text.
    .title = This is not valid Python
    .hint = Delete the character; it often comes with copying from another program.

problem-syntax = Python says: “{ $text }”
    .title = This is not valid Python
problem-syntax-hint = Python says: “{ $text }”
    .title = This is not valid Python
    .hint = { $instead }
problem-indentation = Python says: “{ $text }”
    .title = Wrong indentation
problem-indentation-hint = Python says: “{ $text }”
    .title = Wrong indentation
    .hint = { $instead }
problem-syntax-colon = A line that opens a block (def, class, for, while, if, else, with) ends with a colon.
problem-syntax-unclosed = Add the bracket that closes this `{ $bracket }`.
problem-syntax-unmatched = This `{ $bracket }` closes nothing: remove it, or add the bracket that opens it.
problem-syntax-brackets = Brackets close in the reverse order of opening; check this `{ $bracket }`.
problem-syntax-compare = Use `==` to compare; a single `=` gives a value to a name on its left.
problem-syntax-assign = On the left of `=` stands a name, as in `y = f(x)`.
problem-syntax-triple-quotes = Close the text with the same three quotes that opened it.
problem-syntax-quotes = Close the text with the same quote that opened it, on the same line.
problem-syntax-tabs = Indent with spaces only: tabs and spaces are mixed here.
problem-syntax-indented = This line is indented more than the one before, but no block was opened.
problem-syntax-block = Indent the lines that belong to the block, by four spaces.
problem-syntax-unindent = Indent this line exactly as much as another line of the same block.
problem-syntax-comma = Two values stand side by side: a comma or an operator is missing between them.
problem-syntax-times = Multiplication is written out: `2 * x`, not `2x`.
problem-syntax-print = `print` is a function: `print(y)`.
problem-syntax-outside = This word works only inside a function (def).
problem-syntax-star = Multiplication is written `*`.
problem-syntax-slash = Division is written `/`.
problem-syntax-minus = The minus sign is the plain hyphen: `-`.
problem-syntax-power = Powers are written `**`: `x ** 2`.
problem-syntax-invisible = An invisible character was pasted in: delete it and type a space.

problem-stopped = It was stopped after { $seconds } s.
    .title = The program ran too long
    .hint = Use fewer iterations or smaller tensors, or see whether a loop waits for what never happens.
problem-left = Everybody who watched this run has left, so it was stopped.
    .title = Called off
problem-called-off = This run was called off.
    .title = Called off
problem-going-down = The server is going down.
    .title = Called off
problem-trace-too-large = This program records more than one trace can hold; everything before this point is kept.
    .title = The trace is too large
    .hint = Use smaller tensors or fewer steps, or lower the limit on elements per value.
problem-unusable-answer = The process that ran this program answered in a way that cannot be read, so its answer was dropped.
    .title = No usable answer
    .hint = If the program writes to file descriptors or changes the standard library, remove that. Otherwise this is a bug of gradwalk: please report the program.
problem-forbidden = The program asked the operating system for something that programs may not do here, and was ended.
    .title = A forbidden system operation
    .hint = Files, the network and other processes are out of reach; tensors made in the program itself work.
problem-crashed = A call in this program crashed PyTorch ({ $signal }); nothing else was affected.
    .title = PyTorch itself crashed
    .hint = Compare the shapes and dtypes of the last call with its documentation: some mistakes are not checked by PyTorch and end the process. Memory that ran out can end it the same way.
problem-killed = The operating system ended this program, most likely because memory ran out.
    .title = The program was ended by the system
    .hint = Try smaller tensors; if it was small already, run it again.
problem-ended-itself = The process ended (status { $status }) before the trace was whole.
    .title = The program ended its own process
    .hint = Remove what ends the process (`os._exit`, `quit` from a thread), and run it again.
problem-memory-used-up = The program used up all of its memory, so that nothing was left to tell its trace with.
    .title = Out of memory
    .hint = Use smaller tensors or fewer of them; what is shown before this is right.
problem-lost = The process that runs programs had to be restarted. This is not a mistake in your program.
    .title = The server lost this run
    .hint = Run it again.
problem-broken-off = gradwalk itself failed while it ran this program, so the trace ends here.
    .title = This is a fault of gradwalk, not of the program
    .hint = Please report it together with the program.

problem-server-mistake = This is a bug of gradwalk, not of your program; it was written to the server's log.
    .title = The server made a mistake
problem-no-jacobian = The node cannot be asked for more than the one product that its pass computed: it works inside a transform of torch.func such as vmap, on values that have no numbers of their own.
    .title = This local Jacobian cannot be had by itself
    .hint = Compute the same without torch.func to see it; `v` times J is right as shown.
problem-value-lost = This value was not met again: the program did something else than before.
    .title = The value is lost
problem-value-too-large = A value of { $count } entries is too large to be given out; up to { $most } are.
    .title = This value is too large
problem-given-up = It was begun { $count } times, and each time its worker was lost.
    .title = This run was given up
problem-upgraded = Its parts are of different versions at the moment. Run it again.
    .title = This server is being upgraded
problem-file-not-kept = The shared store does not take it: { $error }.
    .title = This file cannot be handed over
problem-file-lost = It was made, but is not kept any more. Ask for it again.
    .title = The file is gone
problem-file-late = It was not made in { $seconds } seconds.
    .title = This file takes too long
problem-trace-gone = The trace is not kept any more. Run it again.
    .title = Not here any more
problem-answered = The server answered { $status }.
    .title = The server refused this request
problem-unreadable = { $reason }.
    .title = The answer could not be read
problem-no-trace = There is no trace to check yet.
    .title = Not checked
problem-not-answered = The server cannot be reached, or took too long to run the program again.
    .title = Not checked
problem-nothing-to-draw = { $text }
    .title = Nothing to draw
problem-unavailable = { $text }
    .title = Not available here

## Problems of the server and of requests

api-status = The server answered { $status } { $phrase }.
    .title = { $phrase }
api-too-long = This request is longer than the server reads. Send a shorter program or smaller inputs.
    .title = The request is too long
api-invalid = { $faults }.
    .title = The request is not as it should be
    .hint = The form of requests is at `/docs`.
api-fault = { $place }: { $reason }
api-no-json = Write non-finite numbers as "NaN", "Infinity" or "-Infinity", and text without lone surrogates.
    .title = This has no JSON form
api-busy = { $why } Try again in { $count ->
    [one] one second
   *[other] { $count } seconds
}.
    .title = The server is busy
api-full = This server has no memory left for more. Try again in a moment.
api-busy-queue = Many programs are waiting to run.
api-busy-client-queue = Many programs from your address are waiting to run.
api-busy-no-workers = The workers that run programs are not here yet.
api-busy-memory = The server's shared memory does not answer.
api-busy-client = Too many programs came from your address.
api-busy-cpu = Programs and files of your address have used up its processor time.
api-busy-link = Links and frames at your address ran too many programs.
api-busy-bytes = Too many bytes came from your address.
api-busy-room = Too much came from your address.
api-busy-guess = Too many codes of no room came from your address.
api-busy-participant = Too much came from your page.
api-store = Traces cannot be read or kept at the moment. Whoever runs this server finds the reason in its log.
    .title = The store of traces does not answer
api-bug = This is a bug of gradwalk, not of your program; it was written to the server's log.
    .title = The server made a mistake
api-host = It was asked as `{ $host }`.
    .title = This server does not answer to that name
    .hint = Whoever runs it can allow the name with `GRADWALK_ALLOWED_HOSTS`.
api-other-site = Programs are only run for this server's own page, and for programs outside a browser.
    .title = This request came from another site
api-not-json = Send it with `Content-Type: application/json`.
    .title = The body must be JSON
api-no-value = This trace has no value of this number.
    .title = No such value
api-no-trace = There is no such trace here. Send its program again.
    .title = No such trace
api-no-program = No program was ever kept here under this link.
    .title = No such program
api-not-the-owner = Only the owner of this server can pin a link.
    .title = Not the owner
    .hint = Send the token of GRADWALK_OWNER_TOKEN as `Authorization: Bearer …`.
api-program-unreadable = The program of this link was kept by another release and cannot be read any more.
    .title = No such program
api-program-waits = The program of this link is still waiting for its turn. Reload in a moment.
    .title = Not yet
api-inputs = These inputs cannot be read.
    .title = The request is not as it should be
api-no-export = There is no export of that name. There are { $names }.
    .title = No such export
api-oembed-format = Only `format=json` is spoken here.
    .title = Only JSON
api-oembed-address = That is no address.
    .title = No such page
api-oembed-page = That is no page of this server that can be embedded.
    .title = No such page
api-no-picture = There is no picture of it. { $why }
    .title = No picture
api-nothing-to-read = There is nothing to read. { $why }
    .title = Nothing to read

api-room-none = There is no such room, or it has been closed.
    .title = No such room
api-room-steered = Only the person who opened this room can steer it.
    .title = You do not steer this room
api-room-not-asked = This question is not open any more.
    .title = This question is closed
api-room-revealed = The answers are on show already.
    .title = This question is closed
api-room-answers-full = This room has no place for another answer.
    .title = No place left
api-room-full = Every place of this room is taken.
    .title = No place left
api-room-no-seat = Your page is not connected to this room. Wait until it is, then send it again.
    .title = Not connected
api-rooms-client = All rooms that your address may open are open.
    .title = No room left
api-rooms-full = Every room of this server is in use.
    .title = No place left
api-rooms-away = The shared server behind the rooms does not answer. Try again in a moment.
    .title = Rooms do not answer
api-rooms-elsewhere = This server is going down; the room stays. Try again in a moment.
    .title = Rooms do not answer
api-other-answers = other answers

api-title = A backward pass
api-title-of = The backward pass of { $line }
api-preview = Step through its backward pass, every vector-Jacobian product with its numbers.
api-preview-nothing = This program has no backward pass.
api-preview-at = { $where }: { $sentence }
api-no-page = There is no page here at this address. A link may be cut off or mistyped.
    .title = No such page
api-page-open = Step through it
api-page-nothing = There is no backward pass in it.
api-page-home = Open gradwalk and its examples
api-page-pictures = Every step as a picture and a sentence
api-not-built = From a checkout, `make run` builds the page and starts the server; `make install` builds it alone.
    .title = gradwalk is running, but its page has not been built
api-description = The API works: see its description.

torch-untested = gradwalk was tested with PyTorch { $first } to { $last }. This is { $found }: traces may differ, or fail.
extra-missing = `{ $name }` is not installed. Run: `pip install "gradwalk[{ $extra }]"`
export-needs-page = This needs the built front end: run `make install`, or install a released wheel.
export-late = This trace is too large: V8 was not done after { $count } seconds.
export-failed = This trace cannot be drawn ({ $reason }).
export-needs-ffmpeg = Videos need ffmpeg: `pip install "gradwalk[video]"`, or an `ffmpeg` on the PATH.
export-ffmpeg-failed = ffmpeg could not write this video: { $reason }
export-no-pass = This trace has no backward pass: the program stopped before one, or had nothing to differentiate.
export-no-backward-step = This trace has no backward step to show.
export-no-forward-step = This trace has no forward step to show.
export-no-such-step = There is no step { $step }: this walk has { $count ->
    [one] one step
   *[other] { $count } steps
}.
export-too-many-pages = This trace would take { $pages } pages, more than { $most }; one per step is shorter than one per phase.

export-json = The whole trace; opens anywhere without a server
export-dot = The graph of a pass as Graphviz source
export-svg = One step as a vector picture
export-png = One step as a picture
export-pdf = One step as a page
export-html = One page with the player in it; opens without a network
export-kit = The trace with its layout, for `<grad-walk>`
export-pages = A PDF with a page per step or phase
export-tex = Pictures and a frame for LaTeX Beamer
export-pptx = PowerPoint, a slide per step or phase, the sentences as notes
export-gif = An animated picture
export-mp4 = A video for slides (H.264)
export-webm = A video for pages (VP9)

export-title = The backward pass, step by step
export-sentences = Stepping through it needs JavaScript. What each step says:
export-frame = One frame, { $count } pictures: before the pass, then every step. In the preamble:
export-before-pass = Before the pass
export-before-program = Before the program
export-step = Step { $number } of { $total }
export-operation = Operation { $number } of { $total }
export-place = { $where }, { $phase }
export-page-title = { $where }: { $name }
export-operands-more = { $count ->
    [one] and one operand more
   *[other] and { $count } operands more
}
export-saved = saved { $what }
export-undefined = undefined
export-not-required = not required
export-returned-none = None returned
export-no-path = no path
export-not-computed = not computed
export-norm = { $shape } norm { $norm }

notebook-steps = { $count ->
    [0] No backward step
    [one] Backward pass of one step
   *[other] Backward pass of { $count } steps
}
notebook-more = { $count ->
    [one] and one step more
   *[other] and { $count } steps more
}
notebook-summarised = { $shape } has { $count } entries, of which only a summary was recorded: trace again with `limits=dict(elements={ $count })`.
notebook-no-such-name = there is no `{ $name }`; there are { $known }
notebook-recording = This trace is still being recorded: it can be read when the `with` block has ended.
notebook-recording-twice = gradwalk records already in this process: one `record()` at a time.
notebook-ending = `{ $file }`: a trace is saved as { $endings }.
notebook-no-module = `watch` takes the model, a `torch.nn.Module`, not `{ $given }`.
notebook-no-tensors = `{ $function }` takes a tensor or several, not `{ $given }`. A program's text is shown by `gradwalk.trace(text).show()`.
notebook-no-text = `trace` takes the text of a program, not `{ $given }`. What runs in Python is recorded by `with gradwalk.record() as trace:`.
notebook-no-trace = `{ $file }` holds no trace: it is not JSON.
notebook-place = A step looks like `7.3` (step 7, phase 3 of 5) or `f7.3` (forward), not like `{ $text }`.

## What older versions wrote out

told = { $text }
problem-told = { $text }
    .title = { $title }
problem-told-hint = { $text }
    .title = { $title }
    .hint = { $hint }

## Why there is no gradient

missing-undefined = The engine passed an undefined tensor: no gradient, which acts as zero.
    .title = undefined
missing-not-required = This operand does not require a gradient, so none was computed.
    .title = not required
missing-returned-none = The backward function returned None for this operand.
    .title = None
missing-no-path = Nothing reached it in this pass.
    .title = no path
missing-not-computed = Not computed: the pass has not reached it.
    .title = not computed
missing-hidden = Hidden until you get there.

missing-detach = `{ $name }` is cut off: { $call } gives a tensor without a history.
    .hint = Leave out { $call } if the gradient should reach `{ $name }`.
missing-data = `{ $name }` is cut off: { $call } gives a tensor without a history.
    .hint = Write `{ $name }` instead of `{ $name }.data` if the gradient should reach it.
missing-numbers = `{ $name }` is cut off: { $call } gives plain numbers without a history.
    .hint = Compute with the tensor itself instead of the numbers read out of it.
missing-numpy = `{ $name }` is cut off: { $call } hands its values to numpy, which has no history.
    .hint = Compute it in torch: `torch.mean` for `np.mean`. `torch.tensor(…, requires_grad=True)` is a new leaf.
missing-no-grad = `{ $name }` is cut off: what is computed under { $call } has no history.
    .hint = Move that computation out of the `no_grad` block if the gradient should go through it.
missing-discrete = `{ $name }` is cut off: { $call } gives whole numbers or booleans, which have no slope.
    .hint = Compute with what they were made from: with softmax instead of argmax, for example.
missing-rebuilt = `{ $name }` is cut off: { $call } copies values into a new tensor without a history.
    .hint = Use the tensor itself, or join tensors by `torch.stack` or `torch.cat`.
missing-inside = `{ $name }` is used inside { $call }, which did not get it as an argument: it is a constant there.
    .hint = Pass it as an argument of its own, and let backward return a gradient for it.
missing-cut = `{ $name }` is cut off: { $call } gives a tensor without a history.
    .hint = Use an operation of torch that keeps the history.
missing-unused = No differentiable operation uses `{ $name }`, so its `.grad` stays None.
    .hint = Use `{ $name }` in what backward starts from.
missing-not-in-output = `{ $name }` goes into { $call }, but what comes of that does not go into the output: its `.grad` stays None.
    .hint = Add what was computed there to what backward starts from.
missing-asked-late = When { $call } used `{ $name }`, it did not require grad yet: its `.grad` stays None.
    .hint = Call `{ $name }.requires_grad_()` before it is used.
missing-made-without = `{ $name }` was made without `requires_grad=True`, so the engine computes no gradient for it.
    .hint = Make it with `requires_grad=True`, or call `{ $name }.requires_grad_()` before it is used.
missing-frozen = `requires_grad` of `{ $name }` was switched off, so the engine computes no gradient for it.
    .hint = Call `{ $name }.requires_grad_(True)` before it is used, if it should learn.
missing-frozen-in-line = `requires_grad` of `{ $name }` was switched off in line { $line }, so the engine computes no gradient for it.
    .hint = { missing-frozen.hint }
missing-integer = `{ $name }` holds { $dtype } values: only real and complex numbers can have a gradient.
    .hint = Make it of floating point: `{ $name }.float().requires_grad_()`.
missing-reassigned = `{ $name }` was assigned again: the gradient went to the tensor that it named before.
    .hint = Keep the first tensor under a name of its own, or change it in place under `torch.no_grad()`.
missing-reassigned-in-line = `{ $name }` was assigned again in line { $line }: the gradient went to the tensor that it named before.
    .hint = { missing-reassigned.hint }
missing-non-leaf = `{ $name }` is no leaf: { $call } computed it, so the engine passes its gradient on and keeps nothing in `.grad`.
    .hint = Call `{ $name }.retain_grad()` before backward to keep it, or set `requires_grad` on the result instead.
missing-non-leaf-of = { missing-non-leaf } { $count ->
    [one] The leaf made in line { $lines } has it.
   *[other] The leaves made in lines { $lines } have it.
}
    .hint = { missing-non-leaf.hint }

missing-only-none = The only gradient for `{ $name }` was a None that a custom backward returned: `.grad` stays None.
missing-nothing-arrived = Only undefined gradients arrived at `{ $name }`: `.grad` stays None, which is not the same as zeros.
missing-none-before = The backward of { $op } returned None, so only undefined gradients arrived at `{ $name }`: `.grad` stays None, which is not the same as zeros.
missing-cleared-by-hook = A gradient was accumulated in `{ $name }.grad`; then a hook that runs after accumulation set it to None again.
missing-cleared = A gradient was accumulated in `{ $name }.grad`; then code that ran while the pass did set it to None again.
missing-no-grad-yet = `.grad` was still None.
missing-not-reached = The pass did not get here.
missing-raised = This step raised, so nothing was sent on.
missing-not-inputs = `inputs=` of this call does not name `{ $name }`, so nothing is accumulated there.
missing-grad-returned = `{ $call }` returns gradients; it leaves `{ $name }.grad` alone.
missing-around = This pass runs inside pass { $number }, which leads to `{ $name }` and has not got there yet; this one has no part in it.
missing-functional = This pass is one of `torch.func`, which differentiates with respect to arguments of its function only: to it `{ $name }` is a constant.
missing-pruned = This call asks only for the gradients of its inputs, and nothing along this edge leads to one of them.
missing-result-undefined = Only undefined gradients arrived here.
missing-result-no-path = The outputs do not depend on this input: no path in the graph leads to it.

missing-op-returned-none = The backward of { $op } returned None for `{ $name }`.
missing-hook-removed = { $op } returned a gradient for `{ $name }`; a hook on the node returned None in its place.
missing-op-undefined = { $op } had no gradient to work with, so it returns an undefined tensor for `{ $name }`.
missing-unused-output = Nothing used this output, or what used it returned None: the engine hands over an undefined tensor, which acts as zero.
missing-materialized = Nothing used this output, or what used it returned None: the engine hands over an undefined tensor, and the Function's backward gets zeros in its place.
missing-number = `{ $name }` is a plain number, so no gradient goes there.
missing-not-asked = `{ $name }` does not require grad here, so no gradient goes there.
missing-operand-not-asked = Operand { $number } does not require grad, so no gradient goes there.
missing-not-given = No `{ $name }` that requires grad was given, so no gradient is computed for it.

nograd-result = result for { $name }
nograd-others = The same holds for { $names }.
nograd-others-more = The same holds for { $names } and { $count } more.

## Findings and notes

note-input = The input `{ $name }` was not used: the program has no place for it.
note-not-called = `{ $method }` in line { $line } is named, not called: add the parentheses, `{ $method }()`.
note-compared = Line { $line } compares `{ $name }` and does nothing with the answer: one `=` sets it.
note-misspelt = Line { $line } sets `.{ $attribute }`, which PyTorch does not know: `.{ $meant }` is meant.
note-class-state = `{ $function }.forward` keeps `{ $attribute }` in line { $line }: each call overwrites it, so after two calls the backward of the first computes with what the second kept. Keep it in `ctx`.
note-drawn-again = `{ $function }.backward` draws random numbers anew (`{ $call }`, line { $line }), which are not those that forward drew. Draw in forward, and keep them with `ctx.save_for_backward`.
note-nothing-to-step = `step()` in line { $line } changes nothing: no parameter of this optimizer has a gradient. The order is `zero_grad()`, `backward()`, `step()`, and the optimizer must hold the parameters that the loss depends on.
note-v-kept = The v from the page was not used: it can take the place of the program’s own only in its first backward call, where that starts at one tensor of several numbers.
note-on-cpu = `{ $asked }` in line { $line } ran on the CPU: there is no other device here. Graph and gradients are the same.
note-full-precision = `{ $asked }` in line { $line } is switched off: on this CPU all is computed in full precision. On a GPU some operations would run in half precision, with casts as nodes.
note-no-workers = The `DataLoader` in line { $line } loads in this process: there are no { $workers } workers here. The batches are the same.
note-quiet = `{ $library }` (line { $line }) draws and reports nothing here: its calls do nothing.
note-reaches-inside = This program reaches inside the interpreter (`{ $what }`, line { $line }): what is shown is what the program says of itself.
note-no-audit-hook = The audit hook in line { $line } is not called here: what gradwalk does to record the program would reach it, too.
note-compiled = `torch.compile` ran eagerly here: compiled, the whole function would be one opaque node. Operation by operation it computes the same gradients, up to rounding.
note-compiled-in-line = `torch.compile` in line { $line } ran eagerly: compiled, the whole function would be one opaque node. Operation by operation it computes the same gradients, up to rounding.

finding-value = The first value that is not finite is made by { $node }: its result has { $entries }.
    .title = first NaN or infinity
finding-value-why = The first value that is not finite is made by { $node }: its result has { $entries }. { $why }
    .title = { finding-value.title }
finding-value-masked = { finding-value-why }
    .title = { finding-value.title }
    .hint = Mask `x` before the operation too: `torch.where(mask, x, 1)`.
finding-masked = { $mask } leaves it out, but backward sends 0 there, and 0 times a slope that is infinite or NaN is NaN.
finding-leaf = The leaf `{ $name }` holds { $entries } before anything is computed.
    .title = { finding-value.title }
finding-gradient = The first gradient that is not finite is made by { $node }: its grad_output is finite, what it returns for `{ $name }` has { $entries }. It has no finite slope there; every gradient computed from this one inherits that.
    .title = { finding-value.title }
finding-gradient-sqrt = { finding-gradient }
    .title = { finding-value.title }
    .hint = Add a small number under the root: `(x + 1e-12).sqrt()`.
finding-gradient-too = Another gradient that is not finite is made by { $node }: its grad_output is finite, what it returns for `{ $name }` has { $entries }. It has no finite slope there; every gradient computed from this one inherits that.
    .title = { finding-value.title }
finding-seed = The external gradient `v` that { $node } starts from is not finite itself.
    .title = { finding-value.title }
finding-hook = A hook put a gradient that is not finite in front of { $node }.
    .title = { finding-value.title }
finding-sum = The contributions at { $node } are finite, but their sum is not: it ran over the end of its dtype.
    .title = { finding-value.title }
finding-node = { $node } with { $operands }
finding-operand = `{ $name }` = { $value }
finding-nans = { $count ->
    [one] 1 NaN entry
   *[other] { $count } NaN entries
}
finding-infinities = { $count ->
    [one] 1 infinite entry
   *[other] { $count } infinite entries
}
finding-div = A division by 0 is infinite.
finding-div-nan = 0 / 0 is NaN, anything else / 0 is infinite.
finding-sqrt = The square root of a negative number is NaN.
finding-rsqrt = 1 / sqrt(x) is infinite at 0 and NaN below.
finding-log = log(0) is −infinity, and NaN below 0: add a small number, or use `log1p`.
finding-reciprocal = 1 / 0 is infinite.
finding-arc = It is defined from −1 to 1 only.
finding-softmax = A row that is −infinity throughout has no softmax.
finding-pow = A negative number has no real fractional power, and 0 has no negative one.
finding-overflow = { $node } ran over the end of { $dtype }, whose largest number is { $limit }: its operands are finite, its result is infinite.
    .title = overflow
    .hint = Use a wider dtype, or rearrange the formula: `logsumexp`, `log_softmax`, or subtract the maximum first.

finding-faint = The gradient vanishes: it reaches `{ $name }` with norm { $norm }, { $times } times smaller than at its largest.
finding-loud = The gradient explodes: it reaches `{ $name }` with norm { $norm }, { $times } times larger than the `v` it began with.
finding-vanishing = { $reaches } Over { $count } steps that is a factor of { $average } each on average; the strongest, { $strongest }, is { $node }. Slopes below 1 are multiplied along the chain.
    .title = vanishing gradient
    .hint = Relu, residual connections, normalisation or a better initialisation keep the slopes near 1.
finding-vanishing-alone = { $reaches } { $node } does it alone.
    .title = { finding-vanishing.title }
    .hint = { finding-vanishing.hint }
finding-vanishing-at = { $reaches } Nearly all of that is one step: { $node } returns { $change } times what it got. There a slope is nearly 0, as where a loss is smallest, or the terms of a sum cancel, as they do before a normalisation: that may well be right.
    .title = { finding-vanishing.title }
finding-one-class = { $node } received a gradient and returned exactly 0: over an axis of one entry its result is always the same, whatever the entry is. Nothing before it gets a gradient through it.
    .title = { finding-vanishing.title }
    .hint = Give each class its own score; for a single score take `sigmoid`, and `F.binary_cross_entropy_with_logits` as the loss.
finding-saturated = { $node } received a gradient of norm { $norm } and returned exactly 0: it is saturated, its slope is too small for the dtype. Nothing before it gets a gradient through it.
    .title = { finding-vanishing.title }
    .hint = Keep its operand near 0, by smaller weights or normalised inputs.
finding-staircase = { $node } received a gradient and returned exactly 0: it is a staircase, flat between its jumps. Nothing before it gets a gradient through it.
    .title = { finding-vanishing.title }
    .hint = Leave it out in training, or let a custom Function pass the gradient on (straight-through).
finding-underflow = { $node } received a gradient of norm { $norm } and returned exactly 0: the product is too small for float16. Nothing before it gets a gradient through it.
    .title = { finding-vanishing.title }
    .hint = Scale the loss (`torch.amp.GradScaler`) or use bfloat16 or float32.
finding-exploding = { $reaches } Over { $count } steps that is a factor of { $average } each on average; the strongest, { $strongest }, is { $node }. Slopes above 1 are multiplied along the chain.
    .title = exploding gradient
    .hint = Smaller weights, normalisation or gradient clipping keep them in bounds.
finding-exploding-alone = { $reaches } { $node } does it alone.
    .title = { finding-exploding.title }
    .hint = { finding-exploding.hint }
finding-dead-relu = { $node } is dead here: its whole operand of shape { $shape } is 0 or less, so its result and all its slopes are 0, and nothing before it gets a gradient through it.
    .title = dead relu
    .hint = A smaller learning rate, another initialisation or `leaky_relu` avoids it.
finding-dead-relu-more = { finding-dead-relu } { $count ->
    [one] One more is like this one.
   *[other] { $count } more are like this one.
}
    .title = { finding-dead-relu.title }
    .hint = { finding-dead-relu.hint }

finding-wrong-backward = { $backward } is not the derivative of its forward for `{ $name }`: { $why }
    .title = custom backward
finding-cut-derivative = { $op } saves { $saved }, which forward computed and did not return. Forward runs without grad mode, so for { $use } `{ $name }` is a constant: this gradient is right, but a derivative of it leaves out how `{ $name }` changes, and PyTorch is silent.
    .title = second derivative cut short
    .hint = Compute `{ $name }` again in backward from saved inputs, or return it as an output of forward too and save that.
finding-written-gradient = `{ $backward }` writes into the grad_output that it is given: { $change }. Other steps may get the same tensor, and then compute with the wrong gradient, without a word from PyTorch.
    .title = backward writes into grad_output
    .hint = Compute a new tensor instead: `grad_output * 2`, not `grad_output *= 2`. Write entries into a `.clone()`.
finding-behind-autograd = { $node } saved `{ $name }` in the forward; when its backward runs, { $change }. That happened behind autograd's back (as `.data` or numpy can): PyTorch is silent, and the gradient is not that of the forward that ran.
    .title = changed behind autograd
    .hint = Write a new tensor instead, or change it before it is used. What `ctx.save_for_backward` keeps is checked for this.
finding-changed = it holds other values
finding-changed-in-line = it holds other values, written in line { $line }
finding-changed-from = it holds { $now } instead of { $was }
finding-changed-from-in-line = it holds { $now } instead of { $was }, written in line { $line }
finding-no-zero-grad = `{ $name }.grad` still held the gradient of pass { $older } when pass { $newer } added to it, although `{ $name }` was updated in between: each update then uses the sum of all gradients so far.
    .title = gradients not cleared
    .hint = Call `optimizer.zero_grad()`, or set `.grad` to None, before backward.
finding-no-zero-grad-more = { finding-no-zero-grad } { $count ->
    [one] So did the `.grad` of one more leaf.
   *[other] So did the `.grad` of { $count } more leaves.
}
    .title = { finding-no-zero-grad.title }
    .hint = { finding-no-zero-grad.hint }
finding-broadcast = { $node } got the shapes { $tall } and { $flat }: broadcasting pairs every entry of one with every entry of the other, which gives { $shape }.
    .title = broadcast to a square
    .hint = For one difference per entry give both the same shape, by `squeeze(1)` or `unsqueeze(1)`.
finding-rebuilt = `{ $call }` in line { $line } makes a new tensor of numbers that `{ $numbers }` read out of the graph: no gradient goes through it.
    .title = cut by numbers
    .hint = { missing-rebuilt.hint }
finding-softmax-twice = { $node } applies a softmax to what { $maker } made, which is one already: its entries lie between 0 and 1, so the classes hardly differ, and little gradient reaches the scores.
    .title = softmax twice
    .hint = Give the loss the scores themselves: `F.cross_entropy` has the softmax in it. After a `log_softmax`, take `F.nll_loss`.
finding-sigmoid-twice = { $node } applies a sigmoid to what { $maker } made, which is one already: every probability then lies between 0.5 and 0.73, whatever is learned.
    .title = sigmoid twice
    .hint = Give the loss the scores themselves, or take `F.binary_cross_entropy`, which expects probabilities.
finding-no-logarithms = { $node } expects logarithms of probabilities, which are never above 0, and was given numbers up to { $top }: the loss is then no likelihood, and can fall for ever.
    .title = no log-probabilities
    .hint = Give it `F.log_softmax(scores, dim=1)`, or give the scores themselves to `F.cross_entropy`.
finding-outside-list = `{ $name }` gets a gradient, but is not among `{ $module }.parameters()`: a module takes no notice of layers in a plain list or dict such as `{ $attribute }`. An optimizer that is given the parameters never changes it.
    .title = not a parameter
    .hint = Make `{ $attribute }` an `nn.ModuleList` or an `nn.ModuleDict`.
finding-outside-tensor = `{ $name }` gets a gradient, but is not among `{ $module }.parameters()`: it is a plain tensor. An optimizer that is given the parameters never changes it.
    .title = { finding-outside-list.title }
    .hint = Write `self.{ $attribute } = nn.Parameter(…)`.
finding-module-flag = `{ $name }` gets a gradient all the same: `requires_grad` of the module `{ $module }` is an attribute like any other, and its parameters do not look at it.
    .title = not frozen
    .hint = Write `{ $module }.requires_grad_(False)`, which sets it for each parameter.

note-out-of-sight = No call of the program was seen to build this node: code of `torch.jit`, and what runs with torch functions switched off, is out of sight. So it has no line; its numbers are the engine's all the same.
note-thread = Made in another thread: which line made it, and from which values, is not known.
note-unseen = Its result stayed inside one call of torch, which did not hand it out: the value was not seen.
note-not-kept = Not kept: neither a variable of yours nor what PyTorch saved for backward holds this result any more.
    .title = not kept
note-meta = A meta tensor has a shape but no numbers.
note-dense-too-large = Its dense form is too large to make.
note-opaque-dtype = PyTorch has no way to read single entries of this dtype.
note-packed = packed by a saved-tensors hook, as checkpointing does
note-freed = freed: an earlier backward released it
note-saved-changed = changed in place since it was saved
note-unreadable = cannot be read: { $text }

## Checks by finite differences

check-agrees = { $count ->
    [one] The one entry agrees
   *[other] All { $count } entries agree
} with finite differences, to within the tolerances.
check-differs = { $count } of { $total } entries { $count ->
    [one] differs
   *[other] differ
} from finite differences, first row { $row }, column { $column }: { $analytic } where it should be { $numeric }.
check-zeros = The backward returns nothing but zeros.
check-factor = Every entry is { $factor } times what it should be.
check-diagonal = backward keeps the diagonal of the Jacobian alone, as if each output came of one input; here each comes of several.
check-transposed = It is the transpose of what it should be.
check-unseen-use = The engine does not see every use: { $why }
check-kink = Not differentiable at { $at } (row { $row }, column { $column }): the slope is { $left } to the left and { $right } to the right. There is no derivative to compare with; the backward takes { $taken }.
check-no-slope = Not differentiable at { $at } (row { $row }, column { $column }): the function ends there, or its slope has no limit (left { $left }, right { $right }). The backward takes { $taken }.
check-like-this = { $count ->
    [one] One more entry is like this one.
   *[other] { $count } more entries are like this one.
}
check-flat = forward does not change with small changes of `{ $name }`: its derivative is 0 here. backward returns something else, as a straight-through estimator does on purpose.
check-stops = forward depends on `{ $name }`, while backward returns None or zeros for it, which stops the gradient there.
check-leaves-out = output { $number } of forward depends on `{ $name }`, while what backward returns for `{ $name }` leaves out `{ $v }`, its grad_output.
check-direction = along a direction drawn by chance, `v` times the change of forward is { $forward }, while what backward returned for `{ $name }` says { $backward }.
check-not-linear = for single entries of `v` backward returns what it should for `{ $name }`, but not for this `v`: it is not linear in `v`, as every vector-Jacobian product is.
check-not-scaled = for this `v` backward returns what it should for `{ $name }`, but for { $scale } times `v` it does not return { $scale } times that: it is not linear in `v`, as every vector-Jacobian product is.
check-no-jacobian-product = backward does not scale with `{ $v }`: for { $scale } times `{ $v }` it does not return { $scale } times that. So it is not a vector-Jacobian product.
check-constant = backward returns the same whatever `{ $v }` is, not `{ $v }` times the local Jacobian.
check-derivative-alone = backward returns the local derivative alone, whatever `{ $v }` is. Multiply it by what arrives: `return { $v } * (…)`.
check-whole-jacobian = backward returns the whole Jacobian of shape { $shape }, whatever `{ $v }` is; the engine adds up its rows. Return the product `{ $v } @ J`, a vector.
check-arrived = Here `{ $v }` is { $value }.
check-swapped = what backward returns for `{ $name }` is the gradient of `{ $other }`, and the other way round: return them in the order of forward's arguments.
check-identity = forward hands `{ $name }` on as it is, while backward changes `v`, as clipping of gradients does on purpose.
check-identity-times = forward hands `{ $name }` on as it is, while backward multiplies `v` by { $factor }, as a gradient reversal or scaling does on purpose.

check-large-jacobian = This Jacobian has { $entries } entries; up to { $most } are compared one by one.
check-no-jacobian = This node's Jacobian cannot be had by itself, so there is nothing to compare.
check-no-call = No call of the program built { $op }: it was made inside a backward pass (`create_graph=True`), or out of sight. So its forward cannot be run again by itself.
check-no-operation = { $op } is the engine's own node for a write into a view, or has no entry in torch's table: there is no single operation that could be repeated.
check-several-nodes = The call builds several nodes at once, and the operation of this one ({ $op }) cannot be told from the others.
check-other-tensors = The tensors that forward got are not those that the node knows.
check-other-output = Run again by itself, this operation does not give the output that the node has.
check-other-numbers = In double precision this operation gives something else: its random numbers differ.
check-unclear = Which argument of the operation `{ $name }` is cannot be told.
check-not-given = `{ $name }` was not given to the operation.
check-no-tensor = `{ $name }` is no tensor in this call.
check-coarse = The forward gives { $dtype } even where its operands are float64, which is too coarse for differences.
check-draws = The forward draws random numbers.
check-raised = Run again in double precision, it raised { $error }: { $text }
check-edges = This pass starts from edges of the graph instead of tensors, so its outputs have no values.
check-vmap = This pass runs inside `vmap` or `torch.func`, where its values cannot be taken out.
check-pass-raises = This pass raises: { $text }
check-other-program = Run in double precision, the program computes something else: its random numbers or decisions depend on the dtype.
check-other-outputs = With this leaf moved a little, the program does not come to the same outputs.
check-large-leaf = `{ $name }` has { $entries } entries, and each takes two runs of the program; { $left } of { $most } are left.

## Why a rule is what it is

why-add = A nudge of `{ $self }` moves the result by the same nudge, so v passes unchanged.
why-add-broadcast = A nudge of `{ $self }` moves every result that it was repeated for by the same nudge, so their v's are added up.
case-broadcast = An operand that was broadcast gets its gradient summed over the dims along which it was repeated.
why-sub-other = More of `{ $other }` means less of the difference, so the sign turns.
why-rsub = `{ $self }` is what is taken away, so a nudge upwards moves the result down.
why-rsub-other = A nudge of `{ $other }` moves the result by the same nudge.
case-rsub = A number minus a tensor is written this way round: the number has no gradient.
why-mul = `{ $other }` scales `{ $self }`, so a nudge of `{ $self }` moves the product `{ $other }` times as much.
why-mul-other = `{ $self }` scales `{ $other }`, so a nudge of `{ $other }` moves the product `{ $self }` times as much.
case-same-operand = A product of a tensor with itself has two operands that are the same: what each gets adds up.
why-mul-same = Both factors are `{ $self }`: a nudge of one of them alone moves the product `{ $self }` times as much.
why-mul-number = The number scales `{ $self }`, so a nudge of `{ $self }` moves the product that many times as much.
why-div = A nudge of `{ $self }` is divided like `{ $self }` itself.
why-div-other = A larger divisor makes the quotient smaller, in proportion to the quotient, which is divided once more.
case-div = Where the divisor is 0 the gradients are infinite or NaN, as the quotient is.
why-div-rounded = A rounded quotient is a staircase, flat almost everywhere: no nudge gets through.
case-div-unrounded = With rounding_mode=None it is an ordinary division.
why-remainder = Between two jumps the remainder moves exactly as `{ $self }` does.
why-remainder-other = `{ $other }` is taken away as often as the rounded quotient says, so each nudge of it counts that often.
case-remainder = At the jumps, where `{ $self }` is a multiple of the divisor, torch uses the slope beside the jump.
case-fmod = fmod keeps the sign of `{ $self }`, remainder that of the divisor: trunc here, floor there.
why-neg = The result moves as much as `{ $self }`, the other way.
why-reciprocal = The slope of the reciprocal is minus its square; the result is saved, so it is squared instead of dividing again.
case-reciprocal = Where `{ $self }` is 0 the result is infinite or NaN, and so is the gradient.
why-pow = The power rule: the exponent comes down in front and drops by one.
case-pow = With exponent 0 the result is constant, so the gradient is 0 even where `{ $self }` is 0.
case-pow-root = An exponent between 0 and 1 has infinite slope at 0.
why-pow-exponent = In the exponent a power is an exponential whose rate is the logarithm of its base.
case-pow-base-0 = Where the base is 0 and the exponent is not negative the exponent's gradient is 0, not 0 times minus infinity.
case-pow-negative-base = A negative base of a real dtype has no logarithm: the exponent's gradient is NaN there.
case-pow-constant-base-0 = With base 0 the gradient is 0 for exponents that are not negative.
why-addcdiv-tensor2 = A larger divisor makes the added quotient smaller: the quotient rule.
why-lerp = `{ $self }` has the share 1 - weight in the mixture.
why-lerp-end = `{ $end }` has the share weight in the mixture.
why-lerp-weight = Moving `{ $weight }` from 0 to 1 moves the result all the way from `{ $self }` to `{ $end }`.
why-maximum = Only the larger of the two decides the result, so only it gets v; equal ones get half each.
case-maximum = Where both are equal each gets half of v; where one is NaN both get all of it.
why-minimum = Only the smaller of the two decides the result, so only it gets v; equal ones get half each.
why-fmax = Only the larger of the two decides the result.
case-fmax = A NaN loses: the other operand gets all of v. Equal values: the first operand gets all of it.
why-fmin = Only the smaller of the two decides the result.
why-where = `{ $self }` is copied where the condition holds, and ignored elsewhere.
why-where-other = `{ $other }` is copied where the condition fails, and ignored elsewhere.
case-where = The condition gets no gradient: it is true or false, nothing in between.
case-where-nan = A NaN or infinite slope further back in the branch that was not chosen still spoils the gradient: 0 times infinity is NaN.
why-hypot = The length grows with `{ $self }` by the cosine of the angle, `{ $self }` divided by the length.
why-hypot-other = The length grows with `{ $other }` by the sine of the angle, `{ $other }` divided by the length.
case-hypot = Where both are 0 the gradient is 0 / 0 = NaN.
why-copysign = The sign was kept (slope 1) or turned (slope -1); the result divided by `{ $self }` says which.
why-copysign-other = Only the sign of `{ $other }` is used, and a sign does not change with a nudge.
case-copysign = Where `{ $self }` is 0 the gradient is 0.
why-sqrt = The square of the root is `{ $self }`, so its slope is one over twice the root, which is saved and used again.
case-sqrt = At 0 the slope is infinite; for a negative number of a real dtype it is NaN.
why-rsqrt = The power rule for the exponent -1/2: the power -3/2 is the cube of the result, which is saved.
why-exp = The exponential is its own slope, so the result is saved and used again.
why-exp2 = A power of 2 is an exponential with the rate log 2, which comes down in front.
why-expm1 = The exponential is its own slope, and that is the saved result plus 1.
why-log = The logarithm counts factors: the same nudge is a smaller factor of a larger `{ $self }`.
case-log = At 0 the slope is infinite; for a negative number of a real dtype the value is NaN though the gradient is finite.
why-log2 = The logarithm to base 2 is the natural logarithm divided by log 2.
why-log10 = The logarithm to base 10 is the natural logarithm divided by log 10.
why-log1p = The slope of the logarithm, one over what it is taken of: 1 + `{ $self }`.
why-logaddexp = The gradient is shared in the proportion of the two exponentials: a softmax of two.
why-logaddexp2 = The gradient is shared as the powers of 2 are.
why-xlogy = `{ $self }` is scaled by a logarithm, so its nudges are, too.
why-xlogy-other = The slope of the logarithm is one over `{ $other }`.
case-xlogy = 0 times an infinite logarithm counts as 0; xlogy is a product with a logarithm under this rule.
why-sin = The slope of the sine is the cosine: steepest at 0, flat at its peaks.
why-cos = The cosine falls where the sine is positive.
why-tan = One over the square of the cosine is the same as 1 plus the square of the tangent, which is saved.
why-asin = The inverse of the sine has the inverse slope: one over the cosine of the result, written with `{ $self }`.
case-asin = The slope is infinite at -1 and 1.
why-acos = The arccosine is a right angle minus the arcsine, so its slope is the negative of that one.
why-atan = The inverse of the tangent has the inverse slope.
why-atan2 = The angle turns fastest when the point is nudged across the line of sight, and less the farther out it is.
case-atan2 = Where both are 0 there is no angle; torch uses 0.
why-sinh = The slope of the hyperbolic sine is the hyperbolic cosine.
why-cosh = The slope of the hyperbolic cosine is the hyperbolic sine.
why-tanh = The slope is 1 minus the square of the result: nearly 0 where that is near -1 or 1, and there gradients vanish.
case-tanh = A real number far from 0 gives exactly -1 or 1 in floating point, and a gradient of exactly 0.
why-asinh = The inverse of sinh has the inverse slope: one over cosh of the result, written with `{ $self }`.
why-acosh = The inverse of cosh has the inverse slope: one over sinh of the result, written with `{ $self }`.
case-acosh = The slope is infinite at 1.
why-atanh = The inverse of tanh has the inverse slope.
why-abs = Moving away from 0 makes the result larger, moving towards 0 smaller.
case-abs = At 0 there is a corner; torch uses 0.
why-sign = A staircase is flat between its jumps, so a nudge changes nothing: the gradient is 0 everywhere.
case-sign = Also at the jumps, where there is no slope at all.
why-frac = Between the jumps the fractional part moves exactly as `{ $self }` does.
why-erf = The error function is the area under the bell curve, so its slope is the bell curve.
why-erfc = What is left of the area under the bell curve shrinks as the curve is high.
why-erfinv = The inverse of the error function has the inverse slope.
why-lgamma = The slope of the logarithm of the gamma function has its own name, digamma.
why-digamma = The slope of digamma is the trigamma function, polygamma of order 1.
why-sinc = The quotient rule for the sine of an angle over that angle.
case-sinc = At 0 the slope is 0, the limit of the quotient.
why-logit = The inverse of the sigmoid has the inverse slope.
case-logit = With eps, `{ $self }` is clamped first and the gradient outside is 0; without, it is NaN outside of [0, 1].
why-deg2rad = A degree is pi / 180 radians.
why-rad2deg = A radian is 180 / pi degrees.
why-nan-to-num = What was replaced no longer depends on `{ $self }`; all else passes unchanged.
why-i0 = The slope of the modified Bessel function of order 0 is that of order 1.
why-relu = Where `{ $self }` is positive the result is `{ $self }` itself and v passes; where it is negative the result is stuck at 0.
case-relu = A unit that is negative for every input gets no gradient: a dead relu.
why-threshold = Above the threshold the result is `{ $self }` itself, below it the result is a constant.
case-threshold = Exactly at the threshold torch uses 0.
why-leaky-relu = Slope 1 on the right; on the left a slope of its own instead of none, so that no unit dies.
case-leaky-relu = At 0 torch uses the left slope.
why-elu = A straight line on the right, an exponential that levels out on the left.
case-elu = selu is this op with fixed alpha and scale.
case-elu-kink = At 0 the left slope is used.
why-celu = The exponential on the left is stretched by alpha so that both sides meet with slope 1.
case-celu = torch divides by alpha in single precision, whatever the dtype.
why-gelu = The product rule: `{ $self }` times an area under the bell curve (or its approximation), whose slope is the bell curve.
why-silu = The product rule: `{ $self }` times its own sigmoid, which has the slope sigmoid times 1 minus sigmoid.
why-mish = The product rule, with the slope of tanh and of softplus inside.
why-sigmoid = The slope is at most 1/4 for real numbers, and nearly 0 where the result is near 0 or 1: in a deep chain gradients vanish.
why-log-sigmoid = The slope of the logarithm times that of the sigmoid leaves 1 minus the sigmoid, which is the sigmoid of the negative of `{ $self }`.
why-softplus = A relu with a round corner; its slope goes smoothly from 0 to 1 as the sigmoid does.
case-softplus = Above the threshold torch takes the straight line, with slope 1.
why-hardtanh = Inside the range the result moves with `{ $self }`, outside it is stuck.
case-hardtanh = Exactly at a bound torch uses 0 here (clamp lets v pass).
case-relu6 = relu6 is this op with the bounds 0 and 6.
why-hardsigmoid = A straight ramp between -3 and 3, flat outside.
case-hardsigmoid = Exactly at -3 and 3 torch uses 0.
case-hardsigmoid-sixth = torch keeps 1/6 in single precision here, whatever the dtype.
why-hardswish = 0 on the left, `{ $self }` itself on the right, a parabola between.
why-softshrink = Small values are stuck at 0; the others are shifted, which keeps slope 1.
why-hardshrink = Small values are replaced by 0; the others are `{ $self }` itself.
why-rrelu = The slope of the forward pass is used again: drawn by chance in training, the middle of the bounds in evaluation.
why-prelu = Slope 1 on the right, the learned slope `{ $weight }` on the left.
why-prelu-weight = `{ $weight }` multiplies `{ $self }` where that is negative, and does nothing elsewhere.
why-glu = The product rule: the first half is scaled by the gate, the second half moves the gate.
why-softmax = Raising one score raises its own share and lowers all others, because the shares always add up to 1.
case-softmax = v all ones gives 0: the sum of the shares is 1 whatever `{ $self }` is.
case-softmax-rows = The sum runs over dim only; along other dims are independent rows.
why-log-softmax = Every result moves with its own score (v), and all are lowered by the common logarithm, whose slope is the softmax.
case-log-softmax = Where v is -1 at the target and 0 elsewhere, as under cross entropy, this is softmax minus one-hot.
why-clamp-min = Where `{ $self }` was cut off, the bound itself is the result, so the bound gets v.
case-clamp = Exactly at a bound torch lets v pass.
case-clamp-crossed = If the lower bound is above the upper one, the result is the upper one everywhere.
why-conj = Mirroring at the real axis is undone by mirroring the gradient.
case-conj = Of torch's gradient of a real loss the real part is its slope along the real axis, the imaginary part that along the imaginary axis: together the direction in which the loss grows fastest.
why-view-as-real = The pair of real gradients is read as one complex number again.
why-view-as-complex = The two real numbers get the two parts of the complex gradient.
why-complex-real = The real part moves only along the real axis.
why-complex-imag = The imaginary part moves only along the imaginary axis.
why-fft = The matrix of the transform is symmetric, so v is transformed the same way, the frequencies turned round: the inverse transform without its own scale.
case-rfft = The half of the spectrum that is left out gets no v, so zeros stand in its place; the numbers are real, so the real part counts.
case-irfft = Frequencies between the first and the middle one stand for their mirror images too and count twice.
why-polar-abs = More length moves the point outwards, so the part of v that points outwards counts.
why-polar-angle = More angle moves the point at right angles to where it is, as far as it is away from 0.
why-angle = Only a move at right angles to `{ $self }` turns it, and the farther out it is, the less.
case-angle = For real numbers the angle is 0 or pi: a staircase with gradient 0.
case-zero-at-0 = At 0 torch uses 0.
why-sgn = Only the part of v at right angles to the result counts: moving outwards does not change the direction.
case-sgn = For real numbers this is the sign, a staircase with gradient 0.
why-sum = Every element of the group enters the sum once with weight 1, so each gets the whole of the group's v.
why-nansum = NaNs are left out of the sum.
why-mean = Each element of the group has the same weight in the mean: 1 over their count.
why-var = Moving away from the mean widens the spread, twice the distance; the mean's own move cancels out.
case-var = What is taken from the count is the correction: 1 unless given (Bessel's).
why-std = The variance's gradient through a square root: divided by twice the root.
case-std = Where all elements are equal the deviation is 0 and torch uses 0.
why-var-mean = Two results, two gradients: both reach `{ $self }`, and they add up.
why-prod = Each factor is scaled by all the others, as in a product of two.
case-prod = One zero among the factors: only that factor has a gradient. Two zeros: all their gradients are 0.
why-cumsum = An element is part of its own running sum and of all later ones, so v is summed from the end.
why-cumprod = An element is a factor of its own running product and of all later ones: a row per element, with 1 in its place.
case-cumprod = Zeros are handled without dividing by them.
why-logsumexp = A soft maximum: v is shared in the proportion of the exponentials, which is the softmax.
why-logcumsumexp = An element has its softmax share in its own running result and in all later ones.
case-norm = Where the norm is 0 torch uses 0.
case-norm-infinite = With order inf, entries that tie for the largest size share v; with -inf, those that tie for the smallest.
why-max = Only the element that was picked decides the result, so it gets all of v; a nudge of the others changes nothing.
case-max = Ties: only the element whose index was returned gets v.
case-indices-whole = The indices get no gradient: they are integers.
why-max-shared = Only the elements that equal the result decide it, and they share its v; a nudge of the others changes nothing.
case-ties-shared = Ties: all elements equal to the result share v evenly.
case-amax = Where max and min pick one of several, this op shares v between them.
why-aminmax = Two results, two gradients: each goes to the elements that decided its result.
why-topk = The elements that made it get their own v back; the others had no say.
why-sort = Sorting only moves the elements, so v moves back along the same ways.
why-cummax = The record holder of each moment gets that moment's v; a record held for long gets several, and they add up.
case-mm = Where the sizes differ, v and the other operand fit together in one way only: that tells what is transposed.
case-bmm = Each matrix of the batch is a product of its own.
why-dot = Each entry is scaled by its partner in `{ $tensor }` and added up.
why-dot-tensor = Each entry is scaled by its partner in `{ $self }` and added up.
why-vdot = Each entry is scaled by its partner in `{ $other }`; `{ $self }` enters conjugated, so v comes back conjugated.
why-vdot-other = Each entry is scaled by the conjugate of its partner in `{ $self }`.
why-addmm = `{ $self }` is added, times its factor if it has one, and moves the result just as much.
case-addmm = nn.Linear runs this where it has a bias: that is added to every row, so its gradient is the sum over the rows of v.
why-addr-vec1 = Entry i of `{ $vec1 }` is spread over row i, weighted with `{ $vec2 }`.
why-addr-vec2 = Entry j of `{ $vec2 }` is spread over column j, weighted with `{ $vec1 }`.
why-addbmm-batch1 = All products of the batch are added up, so every one of them gets the same v.
why-einsum = Each product counts for the entry of the result with its letters: `{ $operand }` gets v times what it was multiplied with, summed over the letters that it does not have.
why-einsum-alone = Each entry of `{ $operand }` counts for the entry of the result with its letters, so it gets the v of that one.
why-linear = Every output is a sum over the entries of `{ $input }`, weighted with a row of `{ $weight }`.
why-linear-weight = Every row of the batch used the same weights, so their contributions add up.
why-linear-bias = The bias was added to every row, so it gets the sum of all rows.
why-linalg-inv-ex-a = The product of `{ $A }` and its inverse stays 1 however `{ $A }` is nudged, so the inverse moves by minus the nudge between two inverses: the matrix form of minus one over the square.
why-linalg-det-a = Jacobi's formula: entry (i, j) is scaled by its cofactor, and all cofactors together are the determinant times the inverse, transposed.
case-linalg-det = For a singular matrix the cofactors still exist though the inverse does not; torch computes them another way.
why-linalg-slogdet-a = The logarithm of the determinant: the determinant's gradient divided by the determinant.
case-linalg-slogdet = The sign of a real matrix is a staircase and adds nothing; for a complex one it can turn.
why-linalg-cholesky-ex = A nudge of `{ $self }` must stay the product of the factor and its own transpose; solved for a triangular nudge of the factor, only one triangle counts, and the other mirrors it.
case-linalg-cholesky-ex = The gradient is symmetric, as if `{ $self }` could only be nudged symmetrically.
why-linalg-solve-ex-a = `{ $B }` stays as it is, so a nudge of `{ $A }` acts through the solution `{ $result }`, and is undone by `{ $A }`.
why-linalg-solve-ex-b = The solution is linear in `{ $B }`; going back solves with the transposed matrix.
why-linalg-solve-triangular = As for any linear system, but only the triangle that is used can matter.
case-linalg-solve-triangular = With unitriangular=True the diagonal counts as 1 and gets no gradient.
why-linalg-eigh-a = An eigenvalue moves by the nudge seen from its own eigenvector; an eigenvector turns towards the others, faster the closer their eigenvalues.
case-linalg-eigh = Equal eigenvalues make the eigenvectors' part infinite: they are not determined.
why-linalg-matrix-exp = Matrices do not commute, so v times the result would be wrong; the block matrix collects v at every place in every power.
why-trace = Only the diagonal is added up, each entry once.
why-tril = What was cut off had no effect; the rest was copied.
why-linalg-cross = In the product of v with a cross product the factors may be turned in a circle.
why-cdist-x1 = Moving a point away from another lengthens their distance most along the line between them.
case-cdist = Where two points coincide torch uses 0.
case-dist = Where both are equal torch uses 0.
why-view = The numbers are the same, only their places changed, so v is put back into the old places.
case-view-memory = A view shares memory with its operand, a copy does not; for the gradient that makes no difference.
why-expand = A number that was used several times gets the sum of all its v's.
case-expand = Broadcasting in any op is an expand that nobody wrote.
why-select = What was taken gets its v back; the rest had no effect on the result, so it gets 0.
case-slice = narrow is a slice, too.
why-split = Every element went into exactly one part and gets that part's v.
case-split = A part that nobody used has no v; it counts as zeros.
why-cat-tensors = Each operand was copied into its own stretch of the result, and gets that stretch of v.
why-stack-tensors = Each operand is one slice of the result, and gets that slice of v.
why-block-diag-tensors = Each operand was copied into its own block; the zeros beside it belong to nobody.
why-unfold = A number stands in every window that lies over it, and gets the sum of its v's in all of them.
why-fold = Every number of a patch was added to one pixel, so it gets that pixel's v.
why-diag-embed = The zeros beside the diagonal belong to nobody, so their v is dropped.
why-as-strided = A memory cell that is read several times gets the sum of all its v's; one that is not read gets 0.
case-as-strided = The formula depends on how `{ $self }` lies in memory, which the node does not save; so none is shown.
why-clone = A copy moves exactly as its original does.
case-clone = A copy to another dtype casts v back to the dtype of `{ $self }`.
why-copy = The old content was overwritten, so it no longer has any effect.
why-copy-src = The new content is a copy of `{ $src }`.
case-copy = A source of another dtype gets v cast back.
why-constant-pad-nd = The border is a constant, nothing that `{ $self }` could move: padding by negative amounts cuts it off again.
case-constant-pad-nd = Where the op itself cut something off, what it cut off gets 0.
why-reflection-pad = A number near the border was mirrored outwards; what arrives at its copies is added to its own v.
why-replication-pad = A number at the border was copied outwards; what arrives at its copies is added to its own v.
why-index = What was read gets its v; what was read several times gets all of its v's, added up; the rest gets 0.
case-index = An index that occurs twice adds both gradients: never one of them alone.
case-index-whole = An index gets no gradient: it cannot be nudged.
case-index-mask = A boolean mask is an index, too.
case-take = Places are counted through all dims, as if `{ $self }` were flat.
why-embedding-weight = A row that was looked up gets the v of every place where it was used; all other rows get 0.
case-embedding = A row that is named as padding_idx never gets a gradient.
case-embedding-sparse = sparse=True gives the same gradient, stored sparsely.
why-embedding-bag = A row of the table gets the v of every bag it was put into; in a mean divided by the size of the bag, in a maximum only where it was the largest.
why-embedding-bag-weights = The weight multiplied one row on its way into the bag, so it gets the products of that row with the bag's v, added up.
why-masked-fill = Where it was overwritten the old content no longer has any effect, so it gets 0 there and v elsewhere.
why-masked-fill-value = The one value was written to every masked place, so their v's add up.
case-masked-fill = An attention mask works like this: what was set to minus infinity gets no gradient.
why-masked-scatter-source = What was written is read off v at the places where it went.
case-masked-scatter = Elements of `{ $source }` that were not needed get 0.
case-scatter = If several values go to one place only one of them survives, but all get v: the gradient is right only without repeats.
why-scatter-add = Adding something to `{ $self }` does not change how `{ $self }` enters the result.
why-scatter-reduce = What was reduced to one result shares its v: each gets all of it in a sum, an equal part in a mean, in a maximum or minimum only the winner.
why-index-fill-value = The one value was written to every indexed place, so their v's add up; a place that is named twice counts once.
why-index-put = What was overwritten gets 0; what was kept or added to gets v.
case-index-put = This is `x[i] = y`. With accumulate=True the values are added, and the old content keeps its v.
why-fill-value = The one value was written everywhere, so all of v adds up.
why-mse-loss = The square's slope: the farther off, the harder it pulls back.
why-mse-loss-target = The same the other way round: moving `{ $target }` towards `{ $self }` helps as much as moving `{ $self }` towards `{ $target }`.
why-smooth-l1-loss = Far from the target the loss is a straight line, so outliers pull with a constant force.
case-smooth-l1-loss = With beta above 0 the loss is a parabola near the target; with beta 0 it is the plain l1 loss.
why-huber-loss = As for the square, but the pull is capped: that is gradient clipping, built into the loss.
why-binary-cross-entropy = The error `{ $self }` - `{ $target }`, blown up where `{ $self }` is close to 0 or 1: there the logarithm is steep.
why-binary-cross-entropy-target = The target mixes the two logarithms.
case-binary-cross-entropy = The divisor is kept at 1e-12 or more, rounded to single precision (float32) also where the dtype is double.
why-binary-cross-entropy-with-logits = What the sigmoid makes flat the logarithm makes steep again by as much; only the error is left.
why-binary-cross-entropy-with-logits-target = The target mixes the costs of a yes and of a no.
why-nll-loss = Only the log-probability of the right class is looked at, and more of it means less loss.
why-cross-entropy = Each score gets its share of the softmax, that of the right class 1 less.
why-cross-entropy-smoothed = Each score gets its share of the softmax less what the target wants of its class.
why-cross-entropy-target = What the target wants of a class costs as much as the logarithm of its share.
case-nll-loss = `{ $target }` gets no gradient: it holds class numbers.
case-nll-ignored = Places whose class number is ignore_index get 0 and do not count in a mean. Where all of them are, the gradient is 0 though the mean is 0 / 0.
why-soft-margin-loss = A wrong sign is pulled with almost full force, a clear right one hardly at all.
why-multi-margin-loss = Each class that comes closer than the margin is pushed down, and the right class up by as much.
why-native-layer-norm = Three ways lead through: the element itself, the mean it moves, the spread it moves. The last two take back what every element of the group has in common.
why-native-layer-norm-weight = `{ $weight }` multiplies the normalised input, and it is shared, so its gradient adds up over all places where it was used.
why-native-layer-norm-bias = `{ $bias }` is added at every place where it is used, so it gets the sum of v.
case-native-layer-norm = Mean and spread are of each row by itself, over the dims in normalized_shape.
case-layer-norm-shift = v all ones gives 0 where the gain is constant: shifting a row is undone by the normalisation.
case-rstd = rstd is torch's word for 1 over the standard deviation.
why-rms-norm = Two ways lead through: the element itself, and the length of the row, which it moves.
case-rms-norm = rrms is 1 over the root of the mean of the squares.
why-native-batch-norm = In evaluation the statistics are constants and only the element itself counts. While training it also moves the mean and the spread of its channel, which takes back what the whole batch has in common.
case-native-batch-norm = While training, mean and spread are of the batch, per channel: every example's gradient depends on all others.
case-native-group-norm = Mean and spread are of each group of channels of each example.
case-group-norm-results = They are results, too; if a program uses them, their gradients are added.
why-weight-norm-weight-v = Only the direction of `{ $weight_v }` counts, so the part of the gradient along `{ $weight_v }` is taken out.
why-weight-norm-weight-g = `{ $weight_g }` is the length of the result along the direction of `{ $weight_v }`.
why-native-dropout = The same mask as in the forward pass: what was dropped had no effect, what was kept was scaled up.
case-native-dropout = Outside training nothing is dropped and v passes.
why-convolution = Every v goes back to all the inputs that made it, weighted by the kernel entry it met them with; contributions add up.
why-convolution-weight = A kernel entry was used at every place, so it gets the sum over all places of v times the input that it met there.
why-convolution-bias = The bias of a channel was added at every place of every example.
case-convolution = Going back through a convolution is a transposed convolution, and the other way round.
case-convolution-groups = With groups each group of channels is a convolution of its own.
why-max-pool2d = Only the largest element of a window decides its result, so it gets the window's v. Overlapping windows add up.
case-max-pool2d = Ties: only the element whose index was kept gets v.
why-avg-pool2d = Each element of a window has the same weight in its average, so each gets that share of the window's v.
case-avg-pool2d = Overlapping windows add up.
case-adaptive-avg-pool2d = The windows are as even as the sizes allow; they may overlap.
why-upsample-nearest1d = A pixel that was copied to several places gets the sum of their v's.
why-upsample-linear1d = A pixel gets the v of every place it was mixed into, times its weight in the mixture.
why-scaled-dot-product-attention-value = The result mixes the rows of `{ $value }`, so each row gets the v's it was mixed into, with the same weights.
case-scaled-dot-product-attention = Masked scores have weight 0 and get no gradient.
case-attention-not-kept = Neither the weights nor the scores are kept: torch computes them again on the way back, and so does the check.
why-second-slope = Backward multiplied grad_output by the slope. That product is linear in grad_output, so v meets the same slope.
why-second-bend = The slope itself depends on this operand: v times grad_output times how fast the slope changes, the second derivative.
why-second-straight = The slope is the same all along each side of the bend, so its own derivative is 0.
why-second-taken = Backward put grad_output among zeros. Of v only what stands at those places counts.
why-second-softmax = What backward did with grad_output is linear in it: v meets the transpose of the same matrix.
why-second-mse-loss = Backward sent 2 (prediction - target) times grad_output: a difference, whose own slopes are 2 and -2.
why-lstm = Back through time: at each moment what comes from the result and what comes from the moment after are added.
why-lstm-weight0 = The same weights are used at every moment, so the contributions of all moments add up.
why-lstm-hx = The first moment is the only one that sees it directly.
why-lstm-cx = The cell is carried on, scaled by the forget gate: near 1 the gradient lives long, near 0 it dies.
why-product-rows = Row i of `{ $left }` meets every column of `{ $right }` to make row i of the product, so its gradient collects row i of v against all columns of `{ $right }`.
why-product-columns = Column j of `{ $right }` meets every row of `{ $left }` to make column j of the product, so its gradient collects column j of v against all rows of `{ $left }`.
why-matrix-entry = Entry (i, j) of `{ $mat }` multiplies entry j of `{ $vec }` into entry i of the result, so it gets entry i of v times entry j of `{ $vec }`.
why-matrix-columns = Entry j of `{ $vec }` reaches every entry of the result through column j of `{ $mat }`.
why-attention = Through the softmax: v reaches the weights through the values, what all weights of a row have in common is taken out, and the scores hand the rest to `{ $operand }` as through any matrix product.
why-added = A nudge of `{ $other }` moves the result by the same nudge, so v passes unchanged.
why-added-times = `{ $other }` is multiplied by { $factor } before it is added, so its nudge is, too.
why-factor-added = `{ $first }` is multiplied by `{ $second }` before it is added.
why-factor-added-times = `{ $first }` is multiplied by `{ $second }` and by { $factor } before it is added.
why-quotient-added = `{ $tensor1 }` is divided by `{ $tensor2 }` before it is added.
why-quotient-added-times = `{ $tensor1 }` is divided by `{ $tensor2 }` and multiplied by { $factor } before it is added.
why-norm = The length grows fastest in the direction of `{ $self }` itself, as the norm measures length.
why-norm-of-order-0 = The number of entries that are not 0 does not change with a nudge.

## The page: code, inputs, v

page-language = Language
page-language-auto = The reader’s own
page-numbers-coming = The program runs again to this value.
page-step-table = Step table
page-steps = Steps
page-navigation = Page
page-predict = Predict
page-predict-title = Ask before each phase what it will give
page-examples = Examples
page-room = Room
page-view = View
page-share = Share
page-dismiss = Dismiss
page-close = Close
page-done = Done
page-stop = Stop
page-try-again = Try again
page-panels = Panels
page-program-output = Program output
page-walk-title = A backward pass, step by step

page-program = Program
page-program-keys = Ctrl and Enter run it, Escape leaves the editor.
page-run = Run
page-run-title = { $key } and Enter run it
page-control-key = Ctrl
page-by-hand = By hand
page-by-hand-title = Write the backward pass yourself; what you have not found yet is not shown
page-came-with-link = This link brought a program. Read it, then run it.
page-edited = Edited since the run: the picture is of the program before.
page-stopped-early = The last run stopped early: the picture is of the run before.
page-problems = Problems
page-operands-of = What went into { $op }
page-operand-shape = operand { $number }: { $shape }
page-show-node = Show it in the graph
page-add-call = Add { $call } and run
page-go-to-line = Go to line { $line }
page-warnings = Warnings

page-link-program = A program from a link
page-link-program-waits = It has not been run. Read it, then press Run.
page-no-pass = There is no backward pass to show
page-no-pass-hint = Compute something from a tensor that requires grad, or type an expression such as `sin(x*y) + x`.
page-server-away = The server cannot be reached
page-server-away-hint = Is `gradwalk serve` running?

page-run-status = Run
page-run-starting = Starting the program…
page-run-waiting = Waiting in line…
page-run-waiting-ahead = Waiting in line, { $count } ahead…
page-run-running = Running; steps appear as they happen…
page-run-busy = The server is busy. Trying again in { $count } s.
page-run-offline = The server cannot be reached. Trying again; what is on screen stays usable.

page-v = External gradient
page-v-title = External gradient `v`
page-v-reset = Reset v
page-v-unreadable = A number or a list of numbers, such as [0.2, 0.8].
page-v-ones = ones
page-v-row = row { $number }
page-v-row-label = one-hot row { $number }
page-v-row-title = v picks row { $number } of the Jacobian
page-v-all-rows = all rows
page-v-all-rows-title = a stack of { $count } one-hot v's travels together: [{ $count } × { $count }] in, the whole Jacobian out
page-v-random = random
page-v-entry = Weight { $entry }
page-loss-meaning = v = ∂L/∂{ $output }, of an L that you did not write. It says how much each number of { $output } matters in it:
page-loss-rows = J = ∂{ $output }/∂{ $leaf }: row i counts v[i] times.
page-loss-sum = sum of the rows: v J, sent to { $leaf }
page-v-given = { $count ->
    [one] Given by the program; a v set here replaces it.
   *[other] The program gives it to its first backward; a v set here replaces it there.
}
page-v-replaced = { $count ->
    [one] Set here, in the place of the program’s own v.
   *[other] Set here, for the first backward, in the place of the program’s own v.
}
page-v-kept-several = This backward starts at { $count } tensors with a v each, so edit them there.
page-v-kept-stack = Its v is a stack of many at once, so edit it there.
page-v-kept-later = The first backward is not among the recorded ones.
page-v-kept-graph = That v requires grad itself, so edit it there.
page-v-kept-large = That v is too large to be written here.
page-v-from-program = The program starts { $count ->
    [one] the backward pass
   *[other] its { $count } backward passes
} itself, so v comes from there.
page-v-from-line = The program starts { $count ->
    [one] the backward pass
   *[other] its { $count } backward passes
} itself in line { $line }, so v comes from there.
page-v-from-first-line = The program starts { $count ->
    [one] the backward pass
   *[other] its { $count } backward passes
} itself, first in line { $line }, so v comes from there.
page-v-from-lines = The program starts { $count ->
    [one] the backward pass
   *[other] its { $count } backward passes
} itself in lines { $lines }, so v comes from there.

page-changes = Since the run before
page-changes-pass = Beside pass { $pass }
page-changes-forget = Forget it
page-was = was { $value }, { $difference }

page-theme = Theme
page-theme-auto = As the system
page-theme-light = Light
page-theme-dark = Dark
page-theme-contrast = High contrast
page-show = Show
page-projector = Projector mode
page-compare = Compare with the run before
page-digits = Digits
page-fewer-digits = Fewer digits
page-more-digits = More digits
page-text-size = Text size
page-smaller-text = Smaller text
page-larger-text = Larger text

page-example-unknown = There is no example named { $name }; this is another one.
page-link-damaged = This link is damaged: { $parts } could not be read.
page-link-version = its version ({ $version })
page-link-code = the program
page-link-nudge = the nudge
page-link-theme = the theme
page-link-language = the language
page-link-product-view = the way to write products
page-link-digits = the number of digits
page-link-text-size = the text size
page-link-inputs = the inputs
page-link-v = the external gradient
page-link-seed = the seed
page-link-pass = the pass
page-link-step = the step
page-link-projector = projector mode
page-link-predict = predict mode
page-link-compare = the comparison
page-link-by-hand = backward by hand
page-link-unknown = The program of this link is not here: it was never kept on this server, or the server cannot be reached.

page-examples-title = What would you like to see?
page-examples-coming = Fetching the examples…
page-examples-failed = The examples could not be fetched: the server cannot be reached.

page-server-answered = The server answered { $status }.
page-server-unreachable = The server cannot be reached.
page-went-wrong = Something went wrong.

page-protection = Protection of this server
page-protection-partial = Protection: partial
page-protection-none = Protection: none
page-protection-full = Every probe was refused.
page-protection-open = Programs run here with fewer locks than they should: they can { $can }. Run only code that you trust.
page-protection-read = read files
page-protection-list = list folders
page-protection-stat = look files up
page-protection-connect = reach the network
page-protection-fork = start processes
page-protection-thread = start threads
page-protection-signal = signal other processes
page-protection-memory = take 4 GiB of memory
page-protection-raise = raise their own limits
page-protection-exec = start other programs
page-protection-loop = run for ever

page-by-hand-form = Backward by hand
page-by-hand-waiting = The trace is arriving…
page-by-hand-task = Write each gradient from those above it. The tensors of the program, `torch` and all gradients above are there; each line is checked by itself.
page-by-hand-given = given
page-by-hand-label = the gradient of { $name }, { $shape }
page-by-hand-reveal = Reveal
page-by-hand-reveal-label = Reveal { $name }
page-by-hand-asking = Asking finite differences…
page-by-hand-agree = Finite differences agree.
page-by-hand-disagree = Finite differences say something else.
page-by-hand-unknown = Finite differences cannot tell: { $why }
page-by-hand-raised = { $title }: { $message }
page-by-hand-check = Check
page-by-hand-checking = Checking…
page-by-hand-found-label = Found
page-by-hand-found = { $found } of { $count } found

## The page: lesson, rooms, sharing

page-of = { $number } of { $count }

page-note = Note
page-example-moved = As the example opens:
page-prediction = Prediction
page-feedback = Feedback
page-commit = Commit
page-skip = Skip
page-skip-hint = { $hint } Skip goes on without an answer.
page-answer-sent = Sent. It stays hidden until the lecturer reveals it; you may still change it.

page-answers = Answers of the hall
page-answers-count = { $count ->
    [one] { $count } answer
   *[other] { $count } answers
}
page-line-broken = The line is broken; trying again…
page-following = { $away ->
    [0] { $count } following
   *[other] { $count } following, { $away } trying something of their own
}
page-invite = Invite
page-answered = { $count } answered
page-mask-answers = Mask the answers
page-show-answers = Show the answers
page-on-your-own = You are on your own: the lecture goes on without moving you.
page-back-to-lecture = Back to the lecture
page-you-follow = You follow the lecture.
page-try-yourself = Try something yourself
page-what-i-tried = What I tried
page-close-room = Close the room
page-leave-room = Leave
page-room-closed = The room has been closed.
page-room-closed-by-lecturer = The lecturer has closed the room.
page-room-no-program = The lecturer's program is not on this server now.

page-room-yours = Your room is open
page-room-title = A room for a lecture
page-room-picture = QR code of this room's address
page-room-address = Everybody opens this address:
page-room-second = Open the second screen
page-room-second-about = It shows your notes, the next sentence and the answers. Keep its address to yourself: it steers this room.
page-room-privacy = The hall sees your program, your place in it and your questions. Nothing is kept once the room is closed.
page-room-present = Present
page-room-present-about = Everybody who comes in follows your program, your steps and your questions. No accounts, nothing is kept.
page-room-open = Open a room
page-room-follow = Follow
page-room-code = Code
page-room-come-in = Come in
page-room-code-hint = A code has six letters, such as BCDFGH.

page-screen-title = Second screen · { $code } · gradwalk
page-screen-step = Step { $step } of { $count }
page-screen-now = Now · { $step }
page-screen-next = Next · { $step }
page-screen-notes = Notes
page-screen-no-note = No `#@ note` at this line.
page-screen-question = Question
page-screen-question-hidden = Question · answers hidden from the hall

page-link-copied = Link copied
page-copy-link = Copy this link
page-more-sharing = Embed, slides, LMS…
page-copy = Copy
page-copied = Copied
page-copy-by-hand = Select the text and copy it: this browser does not let a page do it.
page-run-first = Run the program first: until then there is only the private link.
page-not-kept = Only the long link can be shared now: { $why }
page-share-for = For
page-opens-at = Opens at step
page-colours = Colours
page-colours-viewers = As on each viewer's device
page-viewers-see = Viewers see
page-part-title = Title
page-part-link = Link to the full tool
page-part-narration = Sentence
page-part-transport = Player's buttons
page-part-equation = Equation
page-part-zoom = Zoom buttons
page-viewers-keys = Arrow keys work in it
page-viewers-inputs = Inputs can be changed
page-to-be-copied = To be copied
page-preview = Preview

page-snippet-link = Short link
page-snippet-link-about = Kept on this server for ever; chat programs and wikis show its step as a picture.
page-snippet-hash = Private link
page-snippet-hash-about = Holds the program itself; nothing of it reaches the server before it is opened.
page-snippet-iframe = Web page: iframe
page-snippet-iframe-about = Works in any page, also where scripts are not allowed.
page-snippet-element = Web page: element
page-snippet-element-about = Part of the page itself; the picture is seen where no script runs.
page-snippet-reveal = reveal.js
page-snippet-reveal-about = Every phase is a fragment: the deck's keys, speaker view and print view work. Load the script once per deck.
page-snippet-reveal-frame = Slides without a plugin
page-snippet-reveal-frame-about = An iframe that gives reveal.js its keys back at either end.
page-snippet-quarto = Quarto
page-snippet-quarto-about = Raw HTML in a page or a reveal.js presentation.
page-snippet-notion = Notion and other pages that embed links
page-snippet-notion-about = Paste the link alone: the page asks for the frame by itself (oEmbed).
page-snippet-lti = Canvas, Moodle and other LMS
page-snippet-lti-about = In the editor's HTML view; the frame asks for the height it needs (lti.frameResize) and sets no cookie.
page-snippet-markdown = Markdown picture
page-snippet-markdown-about = The step as a picture that leads to the page.

page-file = As a file
page-file-format = Format
page-file-pages = A page for
page-file-every-step = every step
page-file-every-phase = every phase
page-file-make = Make the file
page-file-stop = Stop waiting
page-file-drawn = Pages drawn
page-file-ahead = waiting, { $count } first
page-file-working = working…
page-file-download = Download the file
page-file-kinds-failed = The list of files could not be fetched: { $why }
page-file-broken = The connection broke before the file was made.

## The player: stage, callout, panels

player-play = Play
player-pause = Pause
player-keys = Keys
player-keys-graph = From a card to its operand, or to where its result is used
player-leave = Stop playing, leave the graph or the editor
player-key-space = Space
player-key-page-down = Page Down
player-key-page-up = Page Up
player-key-home = Home
player-key-end = End
player-key-escape = Esc
player-key-shift = Shift
player-first-step = First step
player-previous-step = Previous step
player-previous-phase = Previous phase
player-next-phase = Next phase
player-next-step = Next step
player-last-step = Last step
player-name = Backward pass
player-transport = Player
player-narration = Narration
player-arriving = arriving…
player-no-steps = no steps
player-step = Step
player-step-of = step { $step } of { $total }
player-step-so-far = step { $step } of { $total }…
player-phase = Phase
player-direction = Direction
player-forward = Forward
player-backward = Backward
player-pass = Pass
player-pass-of = pass { $pass } of { $total } · { $call }
player-pass-of-in-line = pass { $pass } of { $total } · { $call }, line { $line }
player-curve = Backward passes
player-curve-pass = pass { $pass } of { $total }
player-curve-value = output
player-curve-series = What the curve shows
player-curve-after = after { $calls }
player-curve-unrecorded = not recorded
player-curve-offline = Pass { $pass } is not recorded; recording it needs the server, which does not answer.
player-curve-no-server = Pass { $pass } is not recorded; recording it needs the server.
player-curve-recording = Running the program again up to pass { $pass }…
player-curve-failed = Pass { $pass } could not be recorded.
player-curve-non-finite = First NaN or infinity in a gradient: pass { $pass }
player-curve-compare = Compare
player-curve-compare-title = Keep the numbers of this pass beside those of another one
player-curve-compared = Beside pass { $pass }
player-speed = Speed
player-laying-out = Laying out the graph…
player-layout-failed = The graph could not be laid out: { $reason }. This is a bug in gradwalk, not in your program.
player-no-pass = No backward pass to show.

player-graph = Autograd graph
player-role-graph = graph
player-divider = Border between graph and equation
player-divider-program = Border between program and picture
player-turn = { $turn } of { $count }
player-queue-ready = ready: { $names }
player-queue-waiting = waiting: { $names }
player-queue-counted = { $name } ({ $arrived } of { $expected } arrived)
player-queue-only = now: { $name }, nothing else was ready
player-queue-leaf = now: { $name }, leaves go first
player-queue-last = now: { $name }, of what was ready the one built last
player-queue-title = Of what is ready the engine runs the node that was built last; a leaf’s accumulation goes first.
player-order = { $count ->
        [one] The engine will run one node, as soon as everything has come that it waits for:
       *[other] The engine will run { $count } nodes, each as soon as everything has come that it waits for:
    }
player-order-waits = waits for { $count }
player-order-more = and { $count } more
player-summands-more = { $count } more
player-summand-sizes = the size of each contribution
player-map = Overview of the graph: centre the active node
player-tools = Graph tools
player-zoom-in = Zoom in
player-zoom-out = Zoom out
player-fit = Fit
player-fit-button = fit
player-find = Find in the graph
player-find-button = find
player-find-title = Find by name, operation or line (/)
player-heat = Heat map
player-heat-button = heat
player-heat-title = How large the gradient is at every node
player-heat-none = No gradient has arrived anywhere yet.
player-heat-range = ‖v‖ from { $least } to { $greatest }
player-heat-up-to = up to { $number }
player-open-all = open all
player-open-all-title = Open every group
player-close-all = close all
player-close-all-title = Close every group
player-search = Graph
player-search-what = name, operation or line
player-search-close = Close search
player-search-results = Search results
player-search-found = Found
player-search-hint = Such as relu, weight or line 4.
player-search-nothing = Nothing matches.
player-search-first = { $count } nodes, the first { $shown } here
player-nodes = { $count } { $count ->
    [one] node
   *[other] nodes
}
player-line = line { $line }
player-no-line = no line
player-show-line = { $name }, show line { $line }
player-step-number = step { $step }
player-go-to-step = Go to step { $step }
player-go-to-step-at = Go to step { $step }, { $name }
player-show-step = Show step { $step }

player-node-step = { $node }, step { $step } of { $total }
player-node-no-step = { $node }, no step yet
player-node-not-executed = { $node }, not executed
player-node-raised = { $node }, raised an error
player-value = value
player-leaf = leaf
player-raised = raised
player-saved = saved
player-some-arrived = { $arrived } of { $expected } arrived
player-module = module { $name }
player-function = function { $name }
player-composite = composite { $name }
player-repeated = { $group }, { $count } times in a row
player-was = was { $value } ({ $change })
player-changed-by = changed by up to { $number }

player-vjp = Vector-Jacobian product
player-accumulation = Accumulation
player-is-none = { $name } is None.
player-without-gradient = Without a gradient
player-custom-function = custom Function
player-its-backward = its backward is on line { $line }
player-built-in = built in pass { $pass } (create_graph)
player-built-by-sum = built by the engine's sum in pass { $pass } (create_graph)
player-built-by-step = built by step { $step } of pass { $pass } (create_graph)
player-external-gradient = the external gradient
player-grad-outputs = grad_outputs of the call
player-elsewhere = elsewhere
player-from = from { $name }
player-arrived = arrived
player-sum-before-hook = the sum, before the hook
player-v-sum = v, the sum
player-output-sum = the sum for output { $output }
player-grad-before = { $leaf }.grad before
player-grad-after = { $leaf }.grad after
player-equation = Equation
player-operand = Operand
player-output = Output
player-output-number = output { $output }
player-what-to-show = What to show
player-derivative-alone = local derivative alone
player-times-v = times v
player-how-to-write = How to write it
player-as-matrices = as matrices
player-by-element = element by element
player-full-jacobian = full J
player-jacobian = Local Jacobian
player-v-times-j = v times J
player-partial = ∂output/∂{ $name }
player-partial-outputs = ∂outputs/∂{ $name }
player-entries-of = entries of { $jacobian }
player-jacobian-each-row = { $jacobian }, the same for each row
player-jacobian-of-row = { $jacobian }, of row { $row }
player-v-transposed = vᵀ
player-class-minus-shares = y − p, where p = { $shares }
player-acts-as-j = { $factor }, which acts as J
player-returned-for = returned for { $name }
player-refused-for = returned for { $name }, refused
player-returned-rows = returned for { $name }, one row per v
player-card-outputs = { $count } outputs
player-outputs-vs = v of { $count } outputs, side by side
player-outputs-vs-rows = v of { $count } outputs, side by side, { $rows } rows
player-row-vs = { $count } v's, one per row
player-scalar = scalar
player-backward-returned = , which backward returned
player-more-terms = { $count } more { $count ->
    [one] term
   *[other] terms
}
player-more-zeros = { $count } times 0
player-entry-of = entry { $entry } of { $total }
player-compute-jacobian = Compute this Jacobian
player-not-written-out = not written out
player-not-yet = still being worked out
player-rule-returns = returned =
player-then = then
player-unchecked = not checked here
player-checked = checked against the engine
player-memory = full J { $rows } × { $columns } ({ $full }); saved { $kept }
player-saved-as = saved { $name }
player-saved-input = saved for backward: an input of this node
player-saved-output = saved for backward: its own output
player-saved-made = saved for backward: made in its forward
player-saved-alias = shares memory with { $name }
player-saved-version = version { $version }
player-inside-forward = Inside forward: { $count } { $count ->
    [one] operation
   *[other] operations
}
player-more = more
player-to-know = What to know
player-inside-backward = Inside backward: { $count } { $count ->
    [one] operation
   *[other] operations
}
player-gives = gives
player-result = result
player-not-observed = not observed
player-not-observed-title = This value was not observed.

player-check = Finite differences
player-check-pass = Check the whole pass by finite differences
player-check-again = Check again
player-checking = Running the program again to compare…
player-differences = Finite differences for { $name }
player-differences-pass = Finite differences for the whole pass
player-agrees = Agrees with finite differences
player-differs = Differs from finite differences
player-not-differentiable = Not differentiable here
player-incomparable = Cannot be compared
player-verdict = { $verdict }.
player-verdict-grad = { $verdict }: { $leaf }.grad.
player-verdict-output = { $verdict }, output { $output }.
player-nothing-to-compare = No gradient flows here, so there is nothing to compare.
player-used-jacobian = J that backward uses
player-found-jacobian = J by finite differences
player-used-grad = what this pass gave { $leaf }
player-found-grad = by finite differences
player-analytic-table = analytic Jacobian
player-numeric-table = numeric Jacobian
player-true-table = Jacobian by finite differences
player-mark-wrong = differs
player-mark-kink = not differentiable
player-wrong-entry = Row { $row }, column { $column }: backward says { $analytic }, finite differences { $numeric }.
player-kink = Row { $row }, column { $column }, at { $name } = { $at }: the slope is { $left } to the left and { $right } to the right; backward takes { $analytic }.
player-more-entries = { $count } more like these.
player-tolerances = Central differences in double precision, step { $step }. An entry is right within { $absolute } + { $relative } × its size.

player-stands-out = What stands out
player-worth-knowing = Worth knowing
player-steps = Steps
player-operation = operation
player-line-head = line
player-returned = returned
player-all-numbers = All numbers
player-min = min
player-max = max
player-mean = mean
player-norm = norm
player-zeros = zeros
player-nans = NaN
player-infinite = infinite

player-program = Program
player-inputs = Inputs
player-inputs-reset = Reset inputs
player-inputs-value = { $name } value
player-inputs-fixed = { $shape }, set in the program
player-inputs-missing = The sliders could not be loaded.
player-inputs-not-run = The program could not be run with these inputs: { $reason }.
player-nudge = Nudge
player-nudge-title = Run the program again with one entry changed, and compare with what the gradient predicts
player-nudge-close = Close
player-nudge-entry = Entry
player-nudge-by = Change
player-nudge-by-value = Change, as a number
player-nudge-play = Run the change forward
player-nudge-running = Running again…
player-nudge-failed = The program could not be run again: { $reason }.
player-nudge-no-entry = This program has no input called { $name }. Choose an entry.
player-nudge-structure = With { $name } = { $value } the program builds another graph, so its tensors cannot be compared one by one.
player-nudge-meaning = { $name } goes from { $was } to { $is }. The gradient says how { $output } answers, to first order.
player-nudge-real = Real change of { $output }
player-nudge-predicted = Predicted
player-nudge-difference = Difference
player-nudge-sum = sum of { $count } products, gradient times change
player-nudge-no-gradient = No gradient arrived at { $name }, so there is nothing to predict with.
player-nudge-unmoved = No tensor of this graph changed.
player-nudge-no-output = This pass starts at several v's at once, or its numbers are too many: only the tensors are compared.
player-nudge-none = No difference beyond rounding: along this change { $output } is a straight line.
player-nudge-second = Of second order: half the change leaves { $half }, { $times } times less. One of first order would only halve.
player-nudge-first = Not of second order: with half the change the difference only halves, to { $half }. This gradient is not the slope.
player-nudge-unsettled = With half the change the difference is { $half }. A straight line does not fit yet: try a smaller change.
player-nudge-unseen = { $name } changed as well, but no edge leads to it: the gradient cannot know.
player-nudge-tensor = Tensor
player-nudge-change = Change
player-nudge-forward = J · change
player-nudge-unknown = no J
player-nudge-unknown-title = A local Jacobian on the way is not in this trace
player-nudge-many = up to { $number }
player-nudge-unchanged = { $count ->
    [one] One other tensor does not change.
   *[other] { $count } other tensors do not change.
}
player-offer = This program came in a link. It has not been run; read it first.
player-run = Run
player-loading = Loading…
player-open = Open in gradwalk
player-unreachable = The trace could not be shown: it cannot be reached from here.
player-not-shown = The trace could not be shown: { $reason }.
player-still-running = the program is still running: reload in a moment
player-server-answered = the server answered { $status } for the trace
player-not-run = The program could not be run here: { $reason }
player-damaged = This address is damaged: { $names } could not be read.
player-damaged-value = This address is damaged: a value in it could not be read.
player-damaged-program = This address is damaged: the program in it could not be read.
player-damaged-seed = This address is damaged: the seed in it could not be read.
player-damaged-empty = This address is damaged: there is no program in it.

## The chain: two tensors and everything between them

page-link-chain = the chain
chain-button = chain
chain-button-title = The chain rule between two tensors as one product: v · J₂ · J₁
chain-region = Chain
chain-of = Differentiate
chain-by = by
chain-made = Results
chain-leaves = Leaves
chain-end-made = { $name } · { $operation }, line { $line }
chain-end-unplaced = { $name } · { $operation }
chain-function = A function or module
chain-function-none = choose …
chain-as-one = As one link:
chain-repeats = repeated operations
chain-no-path = No path of the graph leads from `{ $by }` to `{ $of }`: no gradient comes that way.
chain-v = v, grad_output of { $name }
chain-running = after { $symbol }
chain-result = v · { $partial }
chain-recorded = as recorded
chain-whole = as one matrix
chain-paths = { $count } paths
chain-paths-title = Paths from { $by } to { $of }. Each has a product; they are added up.
chain-path = Path { $number }
chain-sum = The sum over { $count } paths
chain-sum-of-turn = One of { $turns }: the sum over { $count } paths
chain-left-out-links = { $count } links
chain-more-paths = and { $count } more paths
chain-compute =
    { $count ->
        [one] Compute the missing Jacobian
       *[other] Compute { $count } missing Jacobians
    }
chain-on-demand = left out while tracing
chain-too-large = too large to write out
chain-not-run = no gradient came through in this pass
chain-not-yet = still being worked out
chain-no-matrix = not a matrix of real numbers
chain-no-v = No gradient came to `{ $name }` in this pass: there is no v, only Jacobians.
chain-all = The pass brought exactly this to `{ $name }`.
chain-part = The pass brought exactly this to `{ $name }` along this chain; other ways brought more.
chain-mixed = Gradients from elsewhere join on the way, so the pass recorded no number for this chain alone.
chain-changed = The pass brought something else to `{ $name }`: on the way a hook, a cast or a broadcast changed the gradient.
chain-differs = The pass brought something else to `{ $name }`. This should not be: please report it.
chain-by-record = A Jacobian is missing. What the pass recorded stands in its place.

## Questions and answers

ask-sum = { $name } was used { $count ->
    [2] twice
   *[other] { $count } times
}: { $values } arrive. What is { $asked }?
ask-product = What is v times J for { $asked }?
ask-sign = Which sign has the gradient returned for { $asked }?
ask-shape = v has the shape { $shape }. Which shape has the gradient returned for { $name }?
ask-nodes = Which nodes does { $node } send a gradient to?
ask-grad = { $grad } was { $before }, and { $arrived } arrives. What is { $asked } afterwards?
ask-node = { $node } ({ $note })
ask-node-in-line = { $node } (line { $line })
ask-node-noted-in-line = { $node } ({ $note }, line { $line })
ask-none = none
ask-positive = positive
ask-negative = negative
ask-zero = zero

ask-right = Right, it is { $is }.
ask-right-shape = Right, it is { $is }, the shape of the input.
ask-right-nodes = Right, it goes to { $is }.
ask-wrong = You said { $said }, it is { $is }.
ask-wrong-because = You said { $said }, it is { $is }: { $because }.
ask-left-out = { $count ->
    [one] { $nodes } was left out
   *[other] { $nodes } were left out
}
ask-one-use = one use
ask-only-one-use = that is only what { $sender } sent; contributions are summed, and the others were left out
ask-sum-not-product = contributions are summed, not multiplied
ask-sum-not-mean = contributions are summed, not averaged
ask-sum-own-signs = contributions are added with their own signs; none is subtracted
ask-no-gradient = for { $name } no gradient was returned
ask-other-way = the value went there in the forward pass; gradients go the other way
ask-grad-replaced = backward does not replace `.grad`, it adds to what is already there
ask-grad-kept = what arrives is added to `.grad`; nothing stays as it was
ask-grad-subtracted = what arrives is added, not subtracted: descending is the optimizer's business
ask-grad-mean = `.grad` is a sum, not a mean
ask-forgot-sum = you forgot to sum the contributions: v is all of them together
ask-forgot-copies = that is one term alone: what goes into several outputs gets a term from each, and they are summed
ask-forgot-v = you forgot to multiply by v: that is the local derivative alone
ask-forgot-v-row = you forgot to multiply by v: that is a row of the local Jacobian
ask-forgot-transpose-factor = you forgot the transpose of { $name }
ask-forgot-transpose = you forgot the transpose: that is { $name } times v, and backward computes v times { $name }
ask-row-for-column = a column of { $name } was taken for a row, or a row for a column
ask-forgot-factor = you forgot the factor { $factor }
ask-forgot-subtracted = you forgot to subtract { $name }
ask-forward-value = that is v times { $name }, a value of the forward pass, and not times the derivative
ask-other-cell = that is another entry of v: each goes back to the place that it came from
ask-divided = the gradient was shared out: a sum passes all of it on to each of its terms
ask-averaged = the gradient was shared out: what was picked gets all of it, the others nothing
ask-wrong-sign = the sign is wrong
ask-other-operand = that is the gradient for the other operand, { $name }
ask-only-v = that is v alone: it was not multiplied by the local derivative
ask-added = v and the local derivative are multiplied, not added
ask-sign-of-product = the sign of a product is that of v times that of the local derivative
ask-shape-of-v = that is the shape of v; a gradient has the shape of its input, so what was broadcast or reduced is undone
ask-shape-transposed = you forgot the transpose: a gradient has the shape of its input
ask-shape-jacobian = that is the whole Jacobian; backward returns v times it

ask-write-no-end = The pass did not come to its end.
ask-write-no-pass = There is no backward pass to write.
ask-write-nothing = There is nothing to write.
ask-write-value = { $name } is too large or complex to be written by hand.
ask-write-many = This pass has { $count } gradients: too many to write by hand.
ask-write-large = The tensors of this pass are too large to be written by hand.
ask-written-exact = Right: exactly what the engine computed.
ask-written-right = Right: what the engine computed, up to rounding.
ask-written-wrong = { $name } is not what the engine computed.
ask-written-wrong-because = { $name } is not what the engine computed: { $because }.
ask-written-shape = It has the shape { $said }, and a gradient has the shape of its tensor, { $is }.
ask-written-shape-because = It has the shape { $said }, and a gradient has the shape of its tensor, { $is }: { $because }.
ask-written-transposed = you forgot the transpose
ask-written-broadcast = what was broadcast going forward is summed going back
ask-written-reduced = what was summed or picked going forward is spread out again
ask-written-factor = every entry is { $factor } times too large
ask-written-some = { $count } contributions arrive here; all of them are summed

## Examples

example-map = `backward` receives `v` = ∂L/∂y, one number per output (here 3), and returns v times J = ∂L/∂p, one number per input (here 2): the loss L is one number, so nobody needs the matrix. J is { $J }; v = { $v } times J is { $grad }: a single 1 picks a row. Edit v and watch.
    .title = A map from R² to R³: v times J
    .question = My f goes from R² to R³. Its derivative is a 3 × 2 matrix, so why does backward take and return vectors?
example-rows-of-j = PyTorch stores it nowhere, but each backward gives one row of J: a one-hot v asks how a single output depends on every input. The three passes print { $first }, { $second } and { $third }.
    .title = One-hot v: the rows of J, one by one
    .question = Where is the Jacobian matrix that I would compute by hand?
example-whole-jacobian = Yes, torch.autograd.grad can: with is_grads_batched=True it takes m rows of v at once. The 3 × 3 identity goes in and J = [[4, 0], [3, 2], [0, 6]] comes out. backward takes one v.
    .title = `m` rows of `v` at once: the whole J
    .question = I expected backward to take a tensor A of shape [m, 3] and return A times J of shape [m, 2]. Can it?
example-ones-as-v = Three outputs are no single number to start from: v says how much each of them matters. Ones give the gradient of the sum, so both ways print { $grad }. For a scalar v is 1 and can be left out.
    .title = `backward(ones)` is the gradient of the sum
    .question = Why does backward() take a tensor as an argument, and why is it always ones?
example-weights-as-v = `v` weighs the outputs before anything is propagated: { $one } times row { $row_one } plus { $two } times row { $row_two } is { $grad }, in a single backward.
    .title = [0.2, 0.8] as v: how much each loss matters
    .question = What if I submit numbers other than ones as the external gradient?
example-doubling-loop = Autograd records the ten doublings that ran. Each multiplies v by 2, and 2 to the 10th is 1024: v = [0.1, 1, 0.0001] becomes [102.4, 1024, 0.1024].
    .title = The doubling loop of the autograd tutorial
    .question = `x*2` in a while loop, then y.backward(v): where do 102.4, 1024 and 0.1024 come from?
example-chain-of-two = `v = { $v }` meets the Jacobian of F2 first, which is diag(2y): { $next }. That vector, never a matrix product of two Jacobians, is the v for F1, whose Jacobian is A: { $grad }.
    .title = `F2(F1(x))`: what comes out is the next v
    .question = For z = F2(F1(x)), what is multiplied with what, and in which order?
example-why-grad-output = `df/dw = x = { $x }` is only the local part. The loss changes { $v } times as fast as f, so w.grad is { $v } · { $x } = { $grad }: grad_output carries everything that comes after f.
    .title = Why multiply by grad_output?
    .question = If backward is the gradient formula, df/dw = x, why is it multiplied by grad_output?
example-exp-function = The Jacobian of an elementwise function is diagonal, so v times J is an elementwise product with e^x. For n entries n numbers are saved; the matrix of n² numbers is never built.
    .title = `exp` as a custom Function
    .question = What does backward actually compute, when e^x is its own derivative?
example-wrong-shape = `backward` must return `v` times `J`, in the shape of the input. The Jacobian, turned on its side, has shape [2, 3] and p has shape [2]: multiply by v (`columns @ v`) and the 3 goes away.
    .title = `backward` returns a matrix: an error
    .question = Function returned an invalid gradient at index 0 - got [2, 3] but expected shape compatible with [2]. Why?
example-returned-jacobian = No. A [3, 3] matrix can be summed down to [3], and the engine does so without a word: [1, e, e²], as if v were ones. With v = [1, 10, 100] the last entry should be 738.9, not 7.39.
    .title = `backward` returns `J` itself: no error, wrong numbers
    .question = My backward returns the full Jacobian and PyTorch does not complain. Is that fine?
example-batch = Rows do not mix: each of the b rows has a v and a J of its own, [3] and [3, 2], and gets its v J of shape [2]. The outputs are summed over, and b × n is left. The mean over the batch shows up as 1/3 in every v.
    .title = A batch of inputs
    .question = What if I push a batch through my function? I would expect a gradient of shape b × k × n.
example-linear-function = One gradient per input of forward, in the same order: grad_input is `grad_output @ weight`, grad_weight `grad_output.t() @ input`. needs_input_grad says which are asked for: input is data, so None goes back for it, as for a bias that is not there.
    .title = LinearFunction with an optional bias
    .question = In LinearFunction of the extending tutorial, what do grad_weight and needs_input_grad do, and why return None?
example-gradcheck = A wrong backward runs without complaint: it says [2, 8] where finite differences say [3, 12]. gradcheck compares the two, in float64, and answers False.
    .title = `gradcheck` on a wrong backward
    .question = How do I test an autograd formula that I wrote myself?
example-composite = A composite is made of other operations and has no backward of its own: in the box of `cross_entropy` autograd tracks log_softmax and nll_loss. Most code is composite. A Function is for NumPy, C++ or another gradient, derivatives.yaml for the elementary operations of PyTorch.
    .title = A composite that opens: `cross_entropy`
    .question = What is a composite function, and where is its backward?
example-none-zeros-undefined = In sums all are zero. c has a path, and its gradient is 0. Nothing used `second`, so its gradient is undefined: backward sees None (zeros without the set_materialize_grads line) and returns None for b. d has no path at all.
    .title = None, zeros and undefined
    .question = A tensor full of zeros, None and an undefined tensor are said to mean the same. What is the difference?
example-sin-expression = `x` is used twice, so its gradient is a sum of two contributions: y · cos(x·y) along one path and 1 along the other. The slope of sin is cos; v times it goes on to x·y.
    .title = `sin(x*y) + x`, with sliders
    .question = Can I just type a formula and drag its inputs?
example-used-twice = Each operation that ran recorded a node. The engine waits until both uses have reported, adds { $b } and { $a } to { $v }, and only then steps into a = x * y: x.grad is { $v } · { $y } = { $x_grad }, y.grad is { $v } · { $x } = { $y_grad }.
    .title = A value used twice: contributions add up
    .question = What happens when a tensor feeds two operations?
example-x-times-x = Each operand of x * x sends { $x } back along its own edge; the leaf adds them to { $grad }. The 2 is a sum of two.
    .title = `x * x` has two edges
    .question = Where does the 2 in the derivative of x² come from?
example-broadcast-bias = Using one bias for every row is using it twice; the two rows of v add up to { $grad }.
    .title = Broadcasting forward, summing backward
    .question = Why is the gradient of a bias a sum over the batch?
example-gradient-accumulation = `backward` adds to `.grad`: after two halves it holds { $first } + { $second } = { $grad }, exactly the gradient of the whole batch.
    .title = `.grad` accumulates
    .question = Why do I have to zero the gradients, and how do I train with half the batch at a time?
example-double-backward = With create_graph=True the first pass leaves a graph of its own: the slope 3x² = { $slope } can be walked back again, to 6x = { $grad }.
    .title = The gradient of a gradient
    .question = How can I differentiate a derivative?
example-detach = (3x - target)² with a detached target is differentiated through 3x alone: 2 · (6 - 4) · 3 = 12. With the path through x² it would be 2 · 2 · (3 - 4) = -4.
    .title = `detach` cuts the path
    .question = My target is computed from x. Why does no gradient come through it?
example-backward-twice = Stepping through a node frees what it saved. The first pass leaves x.grad = { $grad }; the second finds the saved x gone. retain_graph=True keeps it, and .grad would be twice as much.
    .title = Backward a second time
    .question = Trying to backward through the graph a second time: what was freed?
example-in-place = `exp` saves its result at version 0; add_ moves the counter to 1. Backward compares the two and refuses to compute a wrong gradient.
    .title = In-place changes and version counters
    .question = One of the variables needed for gradient computation has been modified by an in-place operation: which, and when?
example-vanishing = Every sigmoid multiplies by at most 1/4. After ten of them { $grad } is left of a gradient of 1.
    .title = Vanishing gradients in a deep sigmoid chain
    .question = Why do the first layers of a deep sigmoid network not learn?
example-mlp-step = One v = 1 at the loss becomes a gradient for each of the 13 parameters; one small step against them takes the loss from 1.59 to 1.05.
    .title = One training step of a small network
    .question = What happens between loss.backward() and optimizer.step()?
example-attention = Every matrix product sends back two matrix products. The softmax in between moves weight from token to token: each row that it returns sums to zero.
    .title = Attention, backwards
    .question = How do gradients get through `softmax(QKᵀ)V`?

## The command line

cli-torch-elsewhere = Not installed, and not needed: programs run in workers.
cli-torch-missing = PyTorch is not installed. Run: `pip install torch`
cli-torch = PyTorch { $found }.
cli-sandbox-elsewhere = Programs run in workers; each tries its locks before it begins.
cli-sandbox-broken = Programs cannot be run: { $reason }. See the log above.
cli-sandbox = Every probe was refused: protection is full.
cli-sandbox-open = { $protection } Only this machine can be served; for others use the container image on Linux with seccomp.
cli-store-shared = Traces are kept in what GRADWALK_CLUSTER_URL names.
cli-store-broken = Traces cannot be kept in { $folder }: { $reason }. Make room, give this user the right to write there, or name another with GRADWALK_DATA_DIRECTORY.
cli-store-small = { $folder } has { $free } free, the limits allow { $wanted }. Lower GRADWALK_TRACE_BYTES_MAX, or make room.
cli-store = Traces are kept in { $folder }, { $free } free.
cli-cluster-none = This machine alone: GRADWALK_CLUSTER_URL is not set.
cli-cluster-extra = GRADWALK_CLUSTER_URL is set. Run: `pip install 'gradwalk[cluster]'`
cli-cluster-silent = { $address } does not answer ({ $reason }). Start it, or correct GRADWALK_CLUSTER_URL.
cli-cluster = { $address } answers.
cli-page-missing = There is no page in { $folder }. Run: `make install`
cli-page-without-player = Embeds and single-file exports are not available. { $why }
cli-page = The page and the player for other pages are built.
cli-port-taken = { $address } cannot be listened on: { $reason }. Is gradwalk running already? Otherwise choose another with `--port` or GRADWALK_PORT.
cli-port = { $address } is free.
cli-memory-small = { $have } here, up to { $wanted } can be used at once. Lower GRADWALK_RUNNING_COUNT or GRADWALK_RUN_MEMORY_BYTES, or greedy programs fail each other.
cli-memory = Up to { $wanted } can be used at once.
cli-pictures-missing = There are no pictures. { $why }
cli-pictures = V8 draws them.
cli-videos-missing = MP4 and WebM need ffmpeg. Run: `pip install 'gradwalk[video]'`. Everything else works without.
cli-videos = ffmpeg is here.

cli-drawing = Drawing { $name }
cli-worker-alone = A worker needs GRADWALK_CLUSTER_URL, such as redis://host:6379/0.
cli-worker-open = Not taking strangers' programs: the self-test says { $level }, open: { $open }.
cli-worker-unmeasured = Not taking strangers' programs: the self-test gave no answer.
cli-not-listening = Not listening on { $host }: the self-test says { $level }, open: { $open }. { $protection } Run the container image on a Linux kernel with seccomp, or listen on 127.0.0.1.
cli-root = Not listening on { $host } as root: a hole in the server would be one in the machine. Give it a user of its own, or say `--as-root`.
cli-open-to = Open to everyone who reaches { $host }, port { $port }: running programs, reading every kept trace by its address, rooms.
cli-open-held = Programs of others are locked in by the kernel; the self-test says full.
cli-open-held-elsewhere = Programs of others run in the workers of this cluster alone.
cli-open-names = Asked under the names { $names }; any other is answered 421 until it stands in `GRADWALK_ALLOWED_HOSTS`.
cli-open-missing = Missing here: { $missing }.
cli-missing-encryption = encryption, which a proxy in front gives
cli-missing-proxy = a proxy in `GRADWALK_TRUSTED_PROXIES`, without which everybody behind one is one client
cli-missing-user = a user of its own
cli-no-fork = `gradwalk { $name }` runs programs in processes that Linux and macOS can start and this system cannot. In Python, `gradwalk.trace` and `gradwalk.record` work here, and so does `python -m gradwalk script.py`.
cli-no-script = There is no script { $file }.
cli-recorded = gradwalk: { $count ->
        [one] one backward pass
       *[other] { $count } backward passes
    } recorded, in { $file }
cli-not-saved = { $file } is not a saved trace: { $reason }
cli-not-text = { $file } is not UTF-8 text: { $reason }
cli-not-named = `{ $text }` is not of the form `name=value`.
cli-not-json = `{ $text }` is not JSON (a number, or nested lists of numbers).
cli-init-exists = { $file } is there already; nothing was written.
cli-init-next = Next: `{ $command }`
cli-deck = Nothing in these pages needs a network.
cli-deck-elsewhere = { $address } is on another machine.
cli-deck-missing = { $address } is not there.
cli-deck-fetched = { $address } cannot be loaded by a page that is opened from a folder. Put it into the page, or serve the folder.
