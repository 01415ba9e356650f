// The faults that somebody wants, read strictly.
import { FAULT_CODES, type Fault, type FaultRule } from '../../filters/fault-rules.js';
import type { FaultRuleSettings } from '../protocol/control.js';
import { ControlError } from './control-error.js';
import { fieldsOf, isTexts } from './read-request.js';

export interface ReadFaults {
  readonly seed: number;
  readonly rules: readonly FaultRule[];
  /** As they were sent. */
  readonly settings: readonly FaultRuleSettings[];
}

const MAX_RULES = 1000;
const MAX_MS = 600_000;
const DEFAULT_BEHIND = 100;
const SCOPE = ['fault', 'verbs', 'resources', 'namespaces', 'share', 'times'];

type Fields = Readonly<Record<string, unknown>>;

/** The fields of each fault beside those of its scope, and what they make. */
const FAULTS: Readonly<Record<FaultRuleSettings['fault'], { fields: readonly string[]; read: (f: Reader) => Fault }>> =
  {
    error: {
      fields: ['code', 'retryAfterSeconds', 'after'],
      read: (f) => ({
        kind: 'error',
        code: f.oneOf('code', FAULT_CODES),
        retryAfterSeconds: f.number('retryAfterSeconds', 0, 3600, 1),
        after: f.flag('after'),
      }),
    },
    slow: { fields: ['delayMs'], read: (f) => ({ kind: 'slow', delayMs: f.number('delayMs', 0, MAX_MS) }) },
    'stale-list': {
      fields: ['behind'],
      read: (f) => ({ kind: 'stale-list', behind: f.number('behind', 1, Number.MAX_SAFE_INTEGER, DEFAULT_BEHIND) }),
    },
    'drop-watch': {
      fields: ['afterMs'],
      read: (f) => ({ kind: 'drop-watch', afterMs: f.number('afterMs', 0, MAX_MS, 0) }),
    },
    'delay-watch': {
      fields: ['delayMs'],
      read: (f) => ({ kind: 'delay-watch', delayMs: f.number('delayMs', 0, MAX_MS) }),
    },
  };

export function readFaultSettings(body: unknown): ReadFaults {
  const fields = fieldsOf(body, ['seed', 'rules']);
  const { rules = [] } = fields;
  if (!Array.isArray(rules)) throw new ControlError(400, 'rules must be an array');
  if (rules.length > MAX_RULES) throw new ControlError(400, `there may be at most ${MAX_RULES} rules`);
  return {
    seed: new Reader(fields, '').number('seed', 0, 2 ** 32 - 1, 1),
    rules: rules.map(readRule),
    settings: rules as FaultRuleSettings[],
  };
}

function readRule(value: unknown, place: number): FaultRule {
  const where = `rules[${place}]`;
  const every = Object.values(FAULTS).flatMap(({ fields }) => fields);
  const sent = fieldsOf(value, [...SCOPE, ...every], where);
  const kind = sent['fault'];
  if (typeof kind !== 'string' || !Object.hasOwn(FAULTS, kind)) {
    throw new ControlError(400, `${where}.fault must be one of ${Object.keys(FAULTS).join(', ')}`);
  }
  const { fields, read } = FAULTS[kind as FaultRuleSettings['fault']];
  fieldsOf(sent, [...SCOPE, ...fields], where);
  const reader = new Reader(sent, `${where}.`);
  return {
    fault: read(reader),
    verbs: reader.texts('verbs'),
    resources: reader.texts('resources'),
    namespaces: reader.texts('namespaces'),
    share: reader.number('share', 0, 1, 1),
    times: reader.number('times', 0, Number.MAX_SAFE_INTEGER, Infinity),
  };
}

class Reader {
  constructor(
    private readonly fields: Fields,
    private readonly where: string,
  ) {}

  /** Without a default it must be there. */
  number(name: string, least: number, most: number, otherwise?: number): number {
    const value = this.fields[name] ?? otherwise;
    if (value === otherwise && otherwise !== undefined) return otherwise;
    if (typeof value === 'number' && value >= least && value <= most) return value;
    throw new ControlError(400, `${this.where}${name} must be a number from ${least} to ${most}`);
  }

  oneOf<T extends number>(name: string, values: readonly T[]): T {
    const found = values.find((value) => value === this.fields[name]);
    if (found === undefined) throw new ControlError(400, `${this.where}${name} must be one of ${values.join(', ')}`);
    return found;
  }

  flag(name: string): boolean {
    const value = this.fields[name] ?? false;
    if (typeof value !== 'boolean') throw new ControlError(400, `${this.where}${name} must be true or false`);
    return value;
  }

  texts(name: string): readonly string[] {
    const value = this.fields[name] ?? [];
    if (!isTexts(value)) throw new ControlError(400, `${this.where}${name} must be an array of strings`);
    return value;
  }
}
