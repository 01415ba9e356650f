// /flagz and /statusz, each behind its gate: the flags and state of a running server, for people to read.
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { parseAccept } from '../../rest/wire/negotiate.js';
import { at, type PathHandler } from './paths.js';

const NOTE =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
/** Paths that say nothing of the server's state. */
const NOT_FOR_DEBUGGING: ReadonlySet<string> = new Set(['/apis', '/api', '/openid', '/openapi', '/.well-known']);

export const flagsPage = (component: string, flags: () => readonly (readonly [string, string])[]): PathHandler =>
  at('/flagz', (request) =>
    page(
      request,
      () =>
        `\n${component} flags\n${NOTE}\n\n${flags()
          .map(([name, value]) => `${name}=${value}\n`)
          .join('')}`,
    ),
  );

export interface ServerState {
  readonly startedMs: number;
  readonly nowMs: () => number;
  readonly runtime: string;
  readonly binaryVersion: string;
  readonly emulatedVersion: string;
  readonly paths: () => readonly string[];
}

export const statusPage = (state: ServerState): PathHandler =>
  at('/statusz', (request) => page(request, () => `\napiserver statusz\n${NOTE}\n${statusLines(state).join('\n')}\n`));

function statusLines(state: ServerState): string[] {
  const { startedMs, nowMs, runtime, binaryVersion, emulatedVersion, paths } = state;
  const folders = new Set(paths().map((path) => `/${path.split('/')[1] ?? ''}`));
  const shown = [...folders].filter((folder) => !NOT_FOR_DEBUGGING.has(folder)).sort();
  return [
    '',
    `Started: ${unixDate(new Date(startedMs))}`,
    `Up: ${upText(Math.floor((nowMs() - startedMs) / 1000))}`,
    `Go version: ${runtime}`,
    `Binary version: ${binaryVersion}`,
    `Emulation version: ${emulatedVersion}`,
    `Paths: ${shown.join(' ')}`,
  ];
}

/** `Mon Nov  2 05:40:16 UTC 2026`. */
function unixDate(date: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = date.toUTCString().replace(',', '').split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

function upText(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

function page(request: HttpRequest, text: () => string): HttpResponse {
  const headers = { 'content-type': 'text/plain; charset=utf-8' };
  if (acceptsText(request.headers['accept'] ?? '')) return { status: 200, headers, body: text() };
  return { status: 406, headers, body: 'media type not acceptable, must be: text/plain\n' };
}

const acceptsText = (header: string): boolean =>
  parseAccept(header).some(({ type, subtype, parameters }) => {
    if ((type !== 'text' && type !== '*') || (subtype !== 'plain' && subtype !== '*')) return false;
    const others = [...parameters].filter(([name]) => name !== 'q');
    if (others.length === 0) return true;
    return others.length === 1 && parameters.get('charset')?.toLowerCase() === 'utf-8';
  });
