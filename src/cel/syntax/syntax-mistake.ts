// What is wrong with a text that is not of the grammar, in the words of kube-apiserver's parser generator.
//
// It goes through the grammar as the generated parser does and, at a mistake, recovers as that does: it drops one token
// when the next one fits, inserts one when the current one would fit after it, or leaves the rule and skips to a token
// that some rule around it can go on with. Every mistake reported on the way is one error of the answer.
import { grammarNetwork } from './grammar.js';
import type { Placed, RuleName, State } from './grammar.js';
import type { LexicalMistake, Token, TokenType } from './lexer.js';
import { firstTokens, Predictor } from './prediction.js';
import type { Expected, Stack } from './prediction.js';

export interface SyntaxMistake {
  /** Undefined for what is about no place. */
  readonly offset: number | undefined;
  readonly message: string;
}

export function syntaxMistakes(
  text: string,
  tokens: readonly Token[],
  lexical: readonly LexicalMistake[],
): readonly SyntaxMistake[] {
  const recognizer = new Recognizer(withoutMistakes(text, lexical), tokens);
  try {
    recognizer.run('start', undefined, 0);
  } catch (error) {
    if (!(error instanceof GiveUp)) throw error;
  }
  return [
    ...lexical.map(({ start, text: bad }) => ({
      offset: start,
      message: `Syntax error: token recognition error at: '${bad}'`,
    })),
    ...recognizer.mistakes,
  ];
}

/** The text with what is no token blanked out by nothing that prints; offsets stay. */
function withoutMistakes(text: string, lexical: readonly LexicalMistake[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, text: bad } of lexical) {
    pieces.push(text.slice(at, start), NO_TOKEN.repeat(bad.length));
    at = start + bad.length;
  }
  return pieces.join('') + text.slice(at);
}

const NO_TOKEN = '\u0000';

/** A rule cannot go on. */
class Stuck extends Error {}

/** Recovery has used up its limits. */
class GiveUp extends Error {}

const MAX_RECOVERIES = 30;
const MAX_SKIPPED = 256;
/** Choices look ahead, some to the end: what is wrong with an expression of thousands of tokens is reported less exactly. */
const MAX_LOOKS_AHEAD = 10_000;
const RESERVED_FIELD = /^no viable alternative at input '.(true|false|null)'$/su;

class Recognizer {
  readonly mistakes: SyntaxMistake[] = [];
  private readonly network = grammarNetwork();
  private readonly predictor = new Predictor(this.network);
  private at = 0;
  private state: State = this.network.start.start;
  private stack: Stack | undefined;
  private precedence = 0;
  private recovering = false;
  private recoveries = 0;
  private lastErrorAt = -1;
  private looks = 0;
  private readonly lastErrorStates = new Set<State>();

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
  ) {}

  run(name: RuleName, returnTo: State | undefined, precedence: number): void {
    const before = { stack: this.stack, precedence: this.precedence, state: this.state };
    this.stack = returnTo === undefined ? undefined : { state: returnTo, outer: before.stack };
    this.precedence = precedence;
    try {
      this.sequence(this.network.body[name]);
    } catch (error) {
      if (!(error instanceof Stuck)) throw error;
      this.report(error.message);
      this.recover();
    }
    this.stack = before.stack;
    this.precedence = before.precedence;
    this.state = before.state;
  }

  private sequence(parts: readonly Placed[]): void {
    for (const placed of parts) this.one(placed);
  }

  private one(placed: Placed): void {
    const { part, state } = placed;
    this.state = state;
    switch (part.part) {
      case 'token':
        return this.match(part.tokens);
      case 'rule': {
        const [move] = state.moves;
        if (move?.move === 'rule') this.run(move.rule, move.to, move.precedence);
        return;
      }
      case 'precedence':
        return;
      case 'optional':
        this.sync();
        if (this.chooses(placed)) this.sequence(placed.bodies[0] ?? []);
        return;
      case 'choice':
        this.sync();
        return this.sequence(placed.bodies[this.choose(placed) - 1] ?? []);
      case 'many':
        this.sync();
        while (this.chooses(placed)) this.round(placed);
        return;
      case 'some':
        this.sync();
        do this.round(placed);
        while (this.chooses(placed));
    }
  }

  private round({ bodies, loopBack }: Placed): void {
    this.sequence(bodies[0] ?? []);
    if (loopBack === undefined) return;
    this.state = loopBack;
    this.sync();
  }

  /** Whether an option matches or a loop goes on. */
  private chooses({ part, state, bodies, loopBack }: Placed): boolean {
    const decision = part.part === 'some' ? (loopBack ?? state) : state;
    if ('deep' in part && part.deep) return this.predicted(decision) === 1;
    const [first] = bodies[0] ?? [];
    return first !== undefined && firstTokens(this.network, first.state).has(this.token.type);
  }

  private choose({ part, state, bodies }: Placed): number {
    if ('deep' in part && part.deep) return this.predicted(state);
    const way = bodies.findIndex(([first]) => {
      return first !== undefined && firstTokens(this.network, first.state).has(this.token.type);
    });
    if (way < 0) throw new Stuck(this.noViable(1));
    return way + 1;
  }

  private predicted(decision: State): number {
    const answer = this.predictor.predict(decision, this.precedence, (places) => this.ahead(places));
    if ('way' in answer) return answer.way;
    throw new Stuck(this.noViable(answer.stuckAt));
  }

  private match(wanted: readonly TokenType[]): void {
    if (wanted.includes(this.token.type)) {
      this.recovering = false;
      this.consume();
      return;
    }
    this.countRecovery();
    if (this.dropsOne()) {
      this.consume();
      return;
    }
    const [move] = this.state.moves;
    if (move !== undefined && firstTokens(this.network, move.to, this.stack).has(this.token.type)) {
      this.reportOnce(`missing ${list(this.expected())} at ${display(this.token)}`);
      return;
    }
    throw new Stuck(this.mismatched());
  }

  /** At a choice or a loop: a token that cannot go on here is dropped, or skipped to where a loop may go on. */
  private sync(): void {
    if (this.recovering) return;
    const next = firstTokens(this.network, this.state);
    if (next.has('END') || next.has(this.token.type)) return;
    if (this.state.kind === 'block' || this.state.kind === 'loop-entry') {
      if (!this.dropsOne()) throw new Stuck(this.mismatched());
    } else if (this.state.kind === 'loop-back') {
      this.reportOnce(`extraneous input ${display(this.token)} expecting ${list(this.expected())}`);
      this.skipTo(new Set([...this.expected(), ...this.recoverySet()]));
    }
  }

  /** Drops the current token when the one after it fits. */
  private dropsOne(): boolean {
    const expected = this.expected();
    if (!expected.has(this.ahead(2))) return false;
    this.reportOnce(`extraneous input ${display(this.token)} expecting ${list(expected)}`);
    this.consume();
    this.recovering = false;
    return true;
  }

  private recover(): void {
    this.countRecovery();
    let skipped = 0;
    // A second error at the same place and state would otherwise go round forever.
    if (this.lastErrorAt === this.at && this.lastErrorStates.has(this.state)) {
      this.consume();
      skipped++;
    }
    this.lastErrorAt = this.at;
    this.lastErrorStates.add(this.state);
    this.skipTo(this.recoverySet(), skipped);
  }

  private skipTo(tokens: ReadonlySet<Expected>, skippedBefore = 0): void {
    for (let skipped = skippedBefore; this.token.type !== 'EOF' && !tokens.has(this.token.type); skipped++) {
      if (skipped >= MAX_SKIPPED) {
        const message = `error recovery token lookahead limit exceeded: ${MAX_SKIPPED}`;
        this.mistakes.push({ offset: undefined, message });
        throw new GiveUp();
      }
      this.consume();
    }
  }

  private countRecovery(): void {
    if (this.recoveries === MAX_RECOVERIES) {
      this.push(`error recovery attempt limit exceeded: ${MAX_RECOVERIES}`, this.token);
      throw new GiveUp();
    }
    this.recoveries++;
  }

  /** What the rules around this place can go on with. */
  private recoverySet(): Set<Expected> {
    const tokens = new Set<Expected>();
    for (let stack = this.stack; stack !== undefined; stack = stack.outer) {
      for (const token of firstTokens(this.network, stack.state)) if (token !== 'END') tokens.add(token);
    }
    return tokens;
  }

  private expected(): Set<Expected> {
    let following = firstTokens(this.network, this.state);
    const tokens = new Set<Expected>(following);
    for (let stack = this.stack; following.has('END') && stack !== undefined; stack = stack.outer) {
      following = firstTokens(this.network, stack.state);
      following.forEach((t) => tokens.add(t));
    }
    if (following.has('END')) tokens.add('EOF');
    tokens.delete('END');
    return tokens;
  }

  private mismatched(): string {
    return `mismatched input ${display(this.token)} expecting ${list(this.expected())}`;
  }

  /** The text from here to the token that fits nowhere, which is `places` away. */
  private noViable(places: number): string {
    this.offending = this.tokens[Math.min(this.at + places - 1, this.tokens.length - 1)];
    const first = this.token;
    const last = this.offending ?? first;
    const end = last.type === 'EOF' ? this.text.length : last.start + last.text.length;
    const input = first.type === 'EOF' ? '<EOF>' : this.text.slice(first.start, end).replaceAll(NO_TOKEN, '');
    const message = `no viable alternative at input '${escapeBlanks(input)}'`;
    return message.replace(RESERVED_FIELD, "mismatched input '$1' expecting IDENTIFIER");
  }

  /** The token a "no viable alternative" is about; others are about the current one. */
  private offending: Token | undefined;

  private report(message: string): void {
    const at = this.offending ?? this.token;
    this.offending = undefined;
    if (this.recovering) return;
    this.recovering = true;
    this.push(message, at);
  }

  private reportOnce(message: string): void {
    if (this.recovering) return;
    this.recovering = true;
    this.push(message, this.token);
  }

  private push(message: string, { start }: Token): void {
    this.mistakes.push({ offset: start, message: `Syntax error: ${message}` });
  }

  private consume(): void {
    if (this.at < this.tokens.length - 1) this.at++;
  }

  private get token(): Token {
    return this.tokens[this.at] ?? { type: 'EOF', text: '<EOF>', start: this.text.length };
  }

  private ahead(places: number): TokenType {
    if (++this.looks > MAX_LOOKS_AHEAD) {
      if (this.mistakes.length === 0) this.push(this.mismatched(), this.token);
      throw new GiveUp();
    }
    return this.tokens[Math.min(this.at + places - 1, this.tokens.length - 1)]?.type ?? 'EOF';
  }
}

const display = ({ text }: Token): string => `'${escapeBlanks(text)}'`;

const escapeBlanks = (text: string): string =>
  text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');

// In the order of the grammar's token types, which is the order of sets in errors.
// prettier-ignore
const ORDER: readonly Expected[] = [
  'EOF', '==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?', ':',
  '+', '*', '/', '%', 'true', 'false', 'null', 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER',
  'ESC_IDENTIFIER',
];

function list(tokens: ReadonlySet<Expected>): string {
  const names = ORDER.filter((t) => tokens.has(t)).map((t) =>
    t === 'EOF' ? '<EOF>' : /^[A-Z_]+$/.test(t) ? t : `'${t}'`,
  );
  return names.length === 1 ? (names[0] ?? '') : `{${names.join(', ')}}`;
}
