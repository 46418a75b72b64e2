/**
 * The program's editor: CodeMirror with what the page lights up in it. Loaded on its own, after the first
 * paint. Colours come from the page's style sheet by class name, so that a change of theme needs nothing here.
 */
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, RangeSet, StateEffect, StateField, type Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { MetProblem } from "../model/trace";
import type { Fact, Span, Warned } from "../protocol/trace.gen";
import { label, say, spellCharacter, textOf } from "../words/say";
import { tellAttribute, tellProblem, tellSentence, titleOf } from "../words/tell";

export interface EditorEvents {
  onchange: (source: string) => void;
  onrun: () => void;
  /** A click that selected no text; line is 1-based, column in UTF-16 units. */
  onpoint: (line: number, column: number) => void;
}

export type Editor = ReturnType<typeof createEditor>;

const setSpan = StateEffect.define<Span | null>();
const activeMark = Decoration.mark({ class: "active-span" });
const activeLine = Decoration.line({ class: "active-line" });

/** Where the light is; it moves with the text around it and goes out when that text is gone. */
const activeSpan = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lit, transaction) {
    let next = lit.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setSpan))
        next = effect.value === null ? Decoration.none : decorate(transaction.newDoc, effect.value);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function decorate(text: Text, span: Span): DecorationSet {
  const { from, to } = rangeOf(text, span);
  if (from >= to) return Decoration.none;
  return RangeSet.of([activeLine.range(text.lineAt(from).from), activeMark.range(from, to)], true);
}

/** A span of the trace as a range of the document, pulled inside it. */
export function rangeOf(text: Text, span: Span): { from: number; to: number } {
  const at = (line: number, column: number) => {
    const { from, to } = text.line(Math.min(Math.max(1, line), text.lines));
    return Math.min(from + Math.max(0, column), to);
  };
  const from = at(span.line, span.column);
  return { from, to: Math.max(from, at(span.end_line, span.end_column)) };
}

/**
 * Scrolls the editor alone; CodeMirror's own way would scroll the whole page under a person's eyes. By half pages, and
 * from the place alone, so that a link shows what walking there shows.
 */
function showPlace(view: EditorView, place: number): void {
  view.requestMeasure({
    read: () => {
      // It may have been asked for before another program came.
      const { top, bottom } = view.lineBlockAt(Math.min(place, view.state.doc.length));
      const half = view.scrollDOM.clientHeight / 2;
      return Math.max(0, Math.round(Math.round(((top + bottom) / 2 - half) / half) * half));
    },
    write: (scrollTop) => {
      view.scrollDOM.scrollTop = scrollTop;
    },
  });
}

type Remark = Pick<Diagnostic, "severity" | "source" | "message">;

function remarkOf(said: MetProblem | Warned): Remark {
  if (said.type === "warning") return { severity: "warning", source: said.category, message: said.text };
  const hint = tellAttribute(said.fact, "hint");
  const lines = [said.isCaught ? say("problem-caught") : null, tellProblem(said), hint];
  const message = lines.flatMap((line) => (line === null ? [] : [textOf(line)])).join("\n");
  return { severity: said.isCaught ? "info" : "error", source: textOf(titleOf(said)), message };
}

function diagnose(text: Text, span: Span, remark: Remark): Diagnostic {
  const range = rangeOf(text, span);
  // A span of no width (the end of a line) would not be drawn: mark the character before it.
  const from = range.from === range.to && range.from > 0 ? range.from - 1 : range.from;
  return { from, to: range.to, ...remark };
}

/** A note that names a line stands there, under its text without the indentation. */
function diagnoseNote(text: Text, note: Fact): Diagnostic[] {
  const line = Number(note.operands?.line);
  if (!(line >= 1 && line <= text.lines)) return [];
  const { from, to, text: written } = text.line(line);
  const indentation = written.length - written.trimStart().length;
  return [{ from: from + indentation, to, severity: "info", message: textOf(tellSentence(note)) }];
}

/** In the place of a character that shows nothing or turns the line's direction. */
function markUnseen(code: number): HTMLElement {
  const mark = document.createElement("span");
  mark.className = "cm-specialChar";
  mark.textContent = spellCharacter(code);
  return mark;
}

/** The keys are then the player's. */
function leave(view: EditorView): boolean {
  view.contentDOM.blur();
  return true;
}

export function createEditor(parent: HTMLElement, source: string, events: EditorEvents) {
  const run = () => {
    events.onrun();
    return true;
  };
  const state = EditorState.create({
    doc: source,
    extensions: [
      lineNumbers(),
      highlightActiveLineGutter(),
      history(),
      drawSelection(),
      highlightSpecialChars({ addSpecialChars: /\p{Bidi_Control}/u, render: markUnseen }),
      EditorView.lineWrapping,
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      pythonLanguage,
      syntaxHighlighting(classHighlighter),
      activeSpan,
      keymap.of([
        { key: "Mod-Enter", run, preventDefault: true },
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        { key: "Escape", run: leave },
        indentWithTab,
      ]),
      EditorView.contentAttributes.of(() => ({
        "aria-label": label("page-program"),
        "aria-description": label("page-program-keys"),
        tabindex: "0",
        spellcheck: "false",
        autocapitalize: "off",
      })),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) events.onchange(update.state.doc.toString());
      }),
      EditorView.domEventHandlers({
        click(event, view) {
          if (!view.state.selection.main.empty) return;
          const place = view.posAtCoords({ x: event.clientX, y: event.clientY });
          if (place === null) return;
          const line = view.state.doc.lineAt(place);
          events.onpoint(line.number, place - line.from);
        },
      }),
    ],
  });
  const view = new EditorView({ state, parent });
  let shown: number | null = null;
  // What appears below the program takes room from it. Whoever writes in it is left alone.
  new ResizeObserver(() => {
    if (shown !== null && !view.hasFocus) showPlace(view, shown);
  }).observe(view.scrollDOM);
  return {
    setSource(next: string): void {
      if (next === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    /** Lights up the sub-expression at work; null puts the light out. */
    setActiveSpan(span: Span | null): void {
      view.dispatch({ effects: setSpan.of(span) });
      shown = span === null ? null : rangeOf(view.state.doc, span).from;
      if (shown !== null) showPlace(view, shown);
    },
    /** Marks what went wrong, what was warned of, and what is worth knowing of a line. */
    setRemarks(problems: readonly MetProblem[], warnings: readonly Warned[], notes: readonly Fact[]): void {
      const { doc } = view.state;
      const marks = [...problems, ...warnings].flatMap((said) =>
        said.span === null ? [] : [diagnose(doc, said.span, remarkOf(said))],
      );
      view.dispatch(
        setDiagnostics(view.state, [...marks, ...notes.flatMap((note) => diagnoseNote(doc, note))]),
      );
    },
    goTo(line: number, column: number): void {
      const { from } = rangeOf(view.state.doc, { line, column, end_line: line, end_column: column });
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
      view.focus();
    },
    /** Goes on where somebody was writing: UTF-16 units from the beginning, pixels scrolled. */
    resume(anchor: number, head: number, scrollTop: number): void {
      view.dispatch({ selection: { anchor, head } });
      view.focus();
      view.scrollDOM.scrollTop = scrollTop;
    },
    destroy: (): void => view.destroy(),
  };
}
