// The first line of an answer, read as strictly as Go reads it, and refused in its words.
import { goQuote } from '../../lib/go/quote.js';
import { OutboundError } from '../outbound-error.js';

export interface StatusLine {
  readonly version: '1.0' | '1.1';
  readonly status: number;
  /** Code and reason, as sent. */
  readonly statusText: string;
}

export function parseStatusLine(line: string): StatusLine | OutboundError {
  const space = line.indexOf(' ');
  if (space < 0) return malformed('malformed HTTP response', line);
  const protocol = line.slice(0, space);
  const statusText = line.slice(space + 1).trimStart();
  const [code = ''] = statusText.split(' ', 1);
  if (!/^\d{3}$/.test(code)) return malformed('malformed HTTP status code', code);
  if (!/^HTTP\/\d\.\d$/.test(protocol)) return malformed('malformed HTTP version', protocol);
  if (!protocol.startsWith('HTTP/1.')) return malformed('unsupported protocol version', protocol);
  return { version: protocol === 'HTTP/1.0' ? '1.0' : '1.1', status: Number(code), statusText };
}

const malformed = (what: string, text: string): OutboundError =>
  new OutboundError('protocol', `${what} ${goQuote(text)}`);
