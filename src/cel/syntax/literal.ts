import type { Token } from './lexer.js';
import { LiteralMistake, unescapeBytes, unescapeString } from './unescape.js';
import { Uint } from '../value.js';
import type { Value } from '../value.js';

/** The value of a literal's token; undefined when the token is none. A minus before a number belongs to it. */
export function literalValue({ type, text }: Token, sign: '' | '-'): Value | undefined {
  switch (type) {
    case 'NUM_INT': {
      const int = sign === '-' ? -BigInt(text) : BigInt(text);
      if (BigInt.asIntN(64, int) !== int) throw new LiteralMistake('invalid int literal');
      return int;
    }
    case 'NUM_FLOAT': {
      const double = Number(sign + text);
      if (!Number.isFinite(double)) throw new LiteralMistake('invalid double literal');
      return double;
    }
    default:
      return sign === '-' ? undefined : unsignedValue(type, text);
  }
}

function unsignedValue(type: Token['type'], text: string): Value | undefined {
  switch (type) {
    case 'NUM_UINT': {
      const uint = BigInt(text.slice(0, -1));
      if (BigInt.asUintN(64, uint) !== uint) throw new LiteralMistake('invalid uint literal');
      return new Uint(uint);
    }
    case 'STRING':
      return unescapeString(text);
    case 'BYTES':
      return unescapeBytes(text.slice(1));
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return undefined;
  }
}
