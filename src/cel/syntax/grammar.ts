// The grammar as a network of states, for saying what is wrong with a text that does not follow it. The parser proper
// is written by hand (parser.ts); this network only has to be what kube-apiserver's parser generator makes of the
// grammar, because its error texts name what each state expects, and its recovery depends on the kinds of states.
import type { TokenType } from './lexer.js';

/** A part of a rule. Choices say whether one token decides them; otherwise as many as needed are looked at. */
export type Part =
  | { readonly part: 'token'; readonly tokens: readonly TokenType[] }
  | { readonly part: 'rule'; readonly rule: RuleName; readonly precedence: number }
  | { readonly part: 'optional'; readonly body: readonly Part[]; readonly deep: boolean }
  | { readonly part: 'many'; readonly body: readonly Part[]; readonly deep: boolean }
  | { readonly part: 'some'; readonly body: readonly Part[]; readonly deep: boolean }
  | { readonly part: 'choice'; readonly alternatives: readonly (readonly Part[])[]; readonly deep: boolean }
  | { readonly part: 'precedence'; readonly level: number };

export type RuleName = keyof typeof RULES;

const token = (...tokens: TokenType[]): Part => ({ part: 'token', tokens });
const rule = (name: string, precedence = 0): Part => ({ part: 'rule', rule: name as RuleName, precedence });
const optional = (...body: Part[]): Part => ({ part: 'optional', body, deep: false });
const many = (...body: Part[]): Part => ({ part: 'many', body, deep: false });
const manyDeep = (...body: Part[]): Part => ({ part: 'many', body, deep: true });
const some = (...body: Part[]): Part => ({ part: 'some', body, deep: false });
const someDeep = (...body: Part[]): Part => ({ part: 'some', body, deep: true });
const choice = (...alternatives: Part[][]): Part => ({ part: 'choice', alternatives, deep: true });
const level = (of: number): Part => ({ part: 'precedence', level: of });

const dot = optional(token('.'));
const question = optional(token('?'));
const comma = optional(token(','));

const RULES = {
  start: [rule('expr'), token('EOF')],
  expr: [rule('conditionalOr'), optional(token('?'), rule('conditionalOr'), token(':'), rule('expr'))],
  conditionalOr: [rule('conditionalAnd'), many(token('||'), rule('conditionalAnd'))],
  conditionalAnd: [rule('relation'), many(token('&&'), rule('relation'))],
  relation: [rule('calc'), manyDeep(level(1), token('<', '<=', '>=', '>', '==', '!=', 'in'), rule('relation', 2))],
  calc: [
    rule('unary'),
    manyDeep(choice([level(2), token('*', '/', '%'), rule('calc', 3)], [level(1), token('+', '-'), rule('calc', 2)])),
  ],
  unary: [choice([rule('member')], [some(token('!')), rule('member')], [someDeep(token('-')), rule('member')])],
  member: [
    rule('primary'),
    manyDeep(
      choice(
        [level(3), token('.'), question, rule('escapeIdent')],
        [level(2), token('.'), token('IDENTIFIER'), token('('), optional(rule('exprList')), token(')')],
        [level(1), token('['), question, rule('expr'), token(']')],
      ),
    ),
  ],
  primary: [
    choice(
      [dot, token('IDENTIFIER')],
      [dot, token('IDENTIFIER'), token('('), optional(rule('exprList')), token(')')],
      [token('('), rule('expr'), token(')')],
      [token('['), optional(rule('listInit')), comma, token(']')],
      [token('{'), optional(rule('mapInitializerList')), comma, token('}')],
      [
        dot,
        token('IDENTIFIER'),
        many(token('.'), token('IDENTIFIER')),
        token('{'),
        optional(rule('fieldInitializerList')),
        comma,
        token('}'),
      ],
      [rule('literal')],
    ),
  ],
  exprList: [rule('expr'), many(token(','), rule('expr'))],
  listInit: [rule('optExpr'), manyDeep(token(','), rule('optExpr'))],
  fieldInitializerList: [
    rule('optField'),
    token(':'),
    rule('expr'),
    manyDeep(token(','), rule('optField'), token(':'), rule('expr')),
  ],
  optField: [question, rule('escapeIdent')],
  mapInitializerList: [
    rule('optExpr'),
    token(':'),
    rule('expr'),
    manyDeep(token(','), rule('optExpr'), token(':'), rule('expr')),
  ],
  escapeIdent: [
    { part: 'choice', alternatives: [[token('IDENTIFIER')], [token('ESC_IDENTIFIER')]], deep: false } satisfies Part,
  ],
  optExpr: [question, rule('expr')],
  literal: [
    choice(
      [optional(token('-')), token('NUM_INT')],
      [token('NUM_UINT')],
      [optional(token('-')), token('NUM_FLOAT')],
      [token('STRING')],
      [token('BYTES')],
      [token('true')],
      [token('false')],
      [token('null')],
    ),
  ],
};

/** What kind of place a state is; recovery treats the beginnings and the ends of loops differently. */
export type StateKind = 'plain' | 'block' | 'loop-entry' | 'loop-back' | 'stop';

export interface State {
  readonly kind: StateKind;
  readonly rule: RuleName;
  readonly moves: Move[];
}

export type Move =
  | { readonly move: 'free'; readonly to: State; readonly level?: number }
  | { readonly move: 'token'; readonly tokens: ReadonlySet<TokenType>; readonly to: State }
  | { readonly move: 'rule'; readonly rule: RuleName; readonly precedence: number; readonly to: State };

/** A part with the states it was made into. */
export interface Placed {
  readonly part: Part;
  readonly state: State;
  /** Where a round of a loop ends. */
  readonly loopBack?: State;
  /** Bodies: one for options and loops, one per alternative for choices. */
  readonly bodies: readonly (readonly Placed[])[];
}

export interface Network {
  readonly start: Readonly<Record<RuleName, State>>;
  readonly body: Readonly<Record<RuleName, readonly Placed[]>>;
  /** States after all uses of a rule. */
  readonly follows: ReadonlyMap<RuleName, readonly State[]>;
}

let network: Network | undefined;

/** Built when the first mistake is met. */
export function grammarNetwork(): Network {
  network ??= build();
  return network;
}

function build(): Network {
  const names = Object.keys(RULES) as RuleName[];
  const follows = new Map<RuleName, State[]>(names.map((name) => [name, []]));
  const start = {} as Record<RuleName, State>;
  const body = {} as Record<RuleName, readonly Placed[]>;
  for (const name of names) {
    const stop: State = { kind: 'stop', rule: name, moves: [] };
    const placed = place(RULES[name], stop, name, follows);
    start[name] = placed.entry;
    body[name] = placed.parts;
  }
  return { start, body, follows };
}

interface Sequence {
  readonly entry: State;
  readonly parts: readonly Placed[];
}

function place(parts: readonly Part[], next: State, name: RuleName, follows: Map<RuleName, State[]>): Sequence {
  const placed: Placed[] = [];
  let entry = next;
  for (const part of parts.toReversed()) {
    const one = placeOne(part, entry, name, follows);
    placed.unshift(one);
    entry = one.state;
  }
  return { entry, parts: placed };
}

function placeOne(part: Part, next: State, name: RuleName, follows: Map<RuleName, State[]>): Placed {
  const state = (kind: StateKind, ...moves: Move[]): State => ({ kind, rule: name, moves });
  const free = (to: State): Move => ({ move: 'free', to });
  switch (part.part) {
    case 'token':
      return { part, bodies: [], state: state('plain', { move: 'token', tokens: new Set(part.tokens), to: next }) };
    case 'rule': {
      follows.get(part.rule)?.push(next);
      return {
        part,
        bodies: [],
        state: state('plain', { move: 'rule', rule: part.rule, precedence: part.precedence, to: next }),
      };
    }
    case 'precedence':
      return { part, bodies: [], state: state('plain', { move: 'free', to: next, level: part.level }) };
    case 'optional': {
      const body = place(part.body, next, name, follows);
      return { part, bodies: [body.parts], state: state('block', free(body.entry), free(next)) };
    }
    case 'choice': {
      const bodies = part.alternatives.map((a) => place(a, next, name, follows));
      return { part, bodies: bodies.map((b) => b.parts), state: state('block', ...bodies.map((b) => free(b.entry))) };
    }
    case 'many': {
      const loopBack = state('loop-back');
      const body = place(part.body, loopBack, name, follows);
      const entry = state('loop-entry', free(body.entry), free(next));
      loopBack.moves.push(free(entry));
      return { part, bodies: [body.parts], state: entry, loopBack };
    }
    case 'some': {
      const loopBack = state('loop-back');
      const body = place(part.body, loopBack, name, follows);
      const block = state('block', free(body.entry));
      loopBack.moves.push(free(block), free(next));
      return { part, bodies: [body.parts], state: block, loopBack };
    }
  }
}
