// Loops: for each element, as long as the condition holds, the step makes the next accumulator.
import type { Evaluate, Frame } from './frame.js';
import { goName } from './go-name.js';
import { MutableList, MutableMap } from './mutable.js';
import type { Planner } from './step.js';
import { ACCUMULATOR } from '../syntax/factory.js';
import type { ComprehensionExpr } from '../syntax/expression.js';
import { ArrayList, CelError, CelList, CelMap, EntryMap } from '../value.js';
import type { Value } from '../value.js';

export function planComprehension(e: ComprehensionExpr, planner: Planner): Evaluate {
  const { locals } = planner;
  const init = planner.step(e.init).evaluate;
  const range = planner.step(e.range).evaluate;
  const accumulatorSlot = locals.slot();
  const slots = [locals.slot(), locals.slot()] as const;
  const readAccumulator = accumulatorReader(accumulatorSlot, init, e.accumulator === ACCUMULATOR);
  const folding = new Map<string, Evaluate>([[e.accumulator, readAccumulator]]);
  const looping = new Map<string, Evaluate>([
    [e.variable, slotReader(slots[0])],
    ...(e.variable2 === undefined ? [] : [[e.variable2, slotReader(slots[1])] as const]),
    // The accumulator is looked for first, as in kube-apiserver.
    [e.accumulator, readAccumulator],
  ]);
  const [condition, step] = locals.within(looping, () => [
    planner.step(e.condition).evaluate,
    planner.step(e.step).evaluate,
  ]);
  const result = locals.within(folding, () => planner.step(e.result).evaluate);

  /** One round; false ends the loop. */
  const round = (frame: Frame, first: Value, second: Value): boolean => {
    frame.locals[slots[0]] = first;
    frame.locals[slots[1]] = second;
    if (condition(frame) === false) return false;
    frame.locals[accumulatorSlot] = step(frame);
    frame.round();
    return true;
  };
  const loop = e.variable2 === undefined ? loopOverOne : loopOverTwo;
  return (frame) => {
    const over = range(frame);
    if (over instanceof CelError) return over;
    frame.locals[accumulatorSlot] = undefined;
    const failed = loop(over, (first, second) => round(frame, first, second));
    if (failed !== undefined) return failed;
    const folded = result(frame);
    // The lists and maps that loops build in place are done growing.
    return folded instanceof MutableList ? new ArrayList(folded.elements) : folded;
  };
}

type Round = (first: Value, second: Value) => boolean;

function loopOverOne(over: Value, round: Round): CelError | undefined {
  if (over instanceof CelList) {
    const { size } = over;
    for (let i = 0; i < size; i++) if (!round(over.at(i), null)) break;
  } else if (over instanceof CelMap) {
    for (const key of over.keys()) if (!round(key, null)) break;
  } else {
    return new CelError(`got '${goName(over)}', expected iterable type`);
  }
  return undefined;
}

function loopOverTwo(over: Value, round: Round): CelError | undefined {
  if (over instanceof CelList) {
    const { size } = over;
    for (let i = 0; i < size; i++) if (!round(BigInt(i), over.at(i))) break;
  } else if (over instanceof CelMap) {
    for (const key of over.keys()) if (!round(key, over.find(key) ?? null)) break;
  } else {
    return new CelError(`unsupported comprehension range type: ${goName(over)}`);
  }
  return undefined;
}

const slotReader =
  (slot: number): Evaluate =>
  ({ locals }) =>
    locals[slot] ?? null;

/** The accumulator starts when it is first read; empty lists and maps of macros start as ones that grow in place. */
function accumulatorReader(slot: number, init: Evaluate, ofMacro: boolean): Evaluate {
  return (frame) => {
    const value = frame.locals[slot];
    if (value !== undefined) return value;
    const first = init(frame);
    const started = ofMacro ? growing(first) : first;
    frame.locals[slot] = started;
    return started;
  };
}

function growing(value: Value): Value {
  if (value instanceof ArrayList && value.size === 0) return new MutableList();
  if (value instanceof EntryMap && value.size === 0) return new MutableMap();
  return value;
}
