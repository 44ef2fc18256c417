// Owns the methods of texts: includes startsWith endsWith toLowerCase toUpperCase trim split slice replaceAll padStart matches.
import { splitsPair, wholeCharacters } from '../cut-text.ts';
import type { JsonValue } from '../json.ts';
import { type Pattern, PatternError } from '../types/pattern.ts';
import { BOOLEAN, listOf, STRING, type Type } from '../types/type.ts';
import { ExpressionProblem } from './expression-tree.ts';
import { containsText, splitText } from './find-text.ts';
import type { CompiledMethodCall, MethodCall } from './method-call.ts';
import { charge, chargeText, ExpressionError, expectNumber, expectText, FUEL } from './runtime.ts';

type TextMethod = (call: MethodCall) => CompiledMethodCall<string>;

export const TEXT_METHODS: ReadonlyMap<string, TextMethod> = new Map<string, TextMethod>([
  ['includes', (call) => withText(call, BOOLEAN, containsText)],
  ['startsWith', (call) => withText(call, BOOLEAN, (text, part) => text.startsWith(part))],
  ['endsWith', (call) => withText(call, BOOLEAN, (text, part) => text.endsWith(part))],
  ['toLowerCase', (call) => changed(call, (text) => text.toLowerCase(), CASE_STEPS)],
  ['toUpperCase', (call) => changed(call, (text) => text.toUpperCase(), CASE_STEPS)],
  ['trim', (call) => changed(call, (text) => text.trim())],
  ['split', split],
  ['slice', slice],
  ['replaceAll', replaceAll],
  ['padStart', padStart],
  ['matches', matches],
]);

function withText(
  call: MethodCall,
  type: Type,
  apply: (text: string, part: string) => JsonValue,
): ReturnType<TextMethod> {
  call.takes(1);
  const part = call.text(0);
  return {
    type,
    run: (frame, text) => {
      chargeText(frame, text.length);
      const wanted = expectText(part.run(frame), call.place(0));
      chargeText(frame, Math.min(wanted.length, text.length));
      return apply(text, wanted);
    },
  };
}

// Letters outside of ASCII are looked up one by one.
const CASE_STEPS = 1 / 8;

function changed(call: MethodCall, apply: (text: string) => string, stepsACharacter = 0): ReturnType<TextMethod> {
  call.takes(0);
  return {
    type: STRING,
    run: (frame, text) => {
      chargeText(frame, text.length);
      charge(frame, Math.ceil(text.length * stepsACharacter));
      return apply(text);
    },
  };
}

function split(call: MethodCall): ReturnType<TextMethod> {
  call.takes(1);
  const separator = call.text(0);
  return {
    type: listOf(STRING),
    run: (frame, text) => {
      chargeText(frame, text.length);
      // One more than the fuel can pay for: enough to notice, without making millions of pieces first.
      const wanted = expectText(separator.run(frame), call.place(0));
      chargeText(frame, Math.min(wanted.length, text.length));
      const pieces = splitText(text, wanted, frame.fuel + 1);
      charge(frame, pieces.length);
      return pieces;
    },
  };
}

function slice(call: MethodCall): ReturnType<TextMethod> {
  call.takes(0, 2);
  const start = call.number(0);
  const end = call.number(1);
  return {
    type: STRING,
    run: (frame, text) => {
      const from = start ? expectNumber(start.run(frame), call.place(0)) : 0;
      const to = end ? expectNumber(end.run(frame), call.place(1)) : text.length;
      return text.slice(placeIn(text, from), placeIn(text, to));
    },
  };
}

function replaceAll(call: MethodCall): ReturnType<TextMethod> {
  call.takes(2);
  const search = call.text(0);
  const replacement = call.text(1);
  return {
    type: STRING,
    run: (frame, text) => {
      const wanted = expectText(search.run(frame), call.place(0));
      const inserted = expectText(replacement.run(frame), call.place(1));
      chargeText(frame, text.length);
      chargeText(frame, Math.min(wanted.length, text.length));
      const pieces = splitText(text, wanted, frame.fuel + 1);
      charge(frame, pieces.length);
      // The length is known before the text is made: replacing one letter by a long text could exhaust the memory.
      chargeText(frame, text.length + (pieces.length - 1) * (inserted.length - wanted.length));
      return pieces.join(inserted);
    },
  };
}

function padStart(call: MethodCall): ReturnType<TextMethod> {
  call.takes(1, 2);
  const length = call.number(0);
  const filler = call.expr.args.length === 2 ? call.text(1) : undefined;
  return {
    type: STRING,
    run: (frame, text) => {
      const wanted = length ? expectNumber(length.run(frame), call.place(0)) : 0;
      chargeText(frame, Math.max(wanted, text.length));
      const padding = ''.padStart(wanted - text.length, filler ? expectText(filler.run(frame), call.place(1)) : ' ');
      return wholeCharacters(padding) + text;
    },
  };
}

/** Counted from the end where it is negative, and never inside of a character: then the place before it. */
function placeIn(text: string, index: number): number {
  const whole = Math.trunc(index);
  const at = whole < 0 ? Math.max(0, text.length + whole) : Math.min(whole, text.length);
  return splitsPair(text, at) ? at - 1 : at;
}

/** The pattern is a literal, so that it is read once and a bad one is found before any run. */
function matches(call: MethodCall): ReturnType<TextMethod> {
  call.takes(1);
  const literal = call.argument(0);
  if (literal.kind !== 'literal' || typeof literal.value !== 'string') {
    throw new ExpressionProblem(
      'M402',
      'the pattern of matches is a text in quotes',
      literal,
      'for example  x.matches("^[a-z]+$")',
    );
  }
  let pattern: Pattern;
  try {
    pattern = call.compiler.patterns.compile(literal.value);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new ExpressionProblem(
      'M305',
      error.message,
      literal,
      'patterns are RE2: no lookahead and no back-references',
    );
  }
  return {
    type: BOOLEAN,
    run: (frame, text) => {
      // Entering the program costs as much as some characters do.
      const work = (text.length + ENTERING_CHARACTERS) * pattern.size;
      if (work > PATTERN_WORK_MAX) throw new ExpressionError('the text is too long for matches');
      charge(frame, Math.ceil(work / PATTERN_WORK_A_STEP));
      return pattern.test(text);
    },
  };
}

const ENTERING_CHARACTERS = 16;
// An instruction looks at a character in up to 20 ns where many branches are open at once.
const PATTERN_WORK_A_STEP = 12;
const PATTERN_WORK_MAX = FUEL * PATTERN_WORK_A_STEP;
