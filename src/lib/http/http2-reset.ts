/** Why a stream or a connection of HTTP/2 ended, by its number: RFC 9113, section 7. */
const NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const;

export type ResetName = (typeof NAMES)[number];

/** Undefined for a number without a meaning: others send any. */
export const resetNameOf = (code: number): ResetName | undefined => NAMES[code];

export const resetName = (code: number): string => resetNameOf(code) ?? `unknown error code 0x${code.toString(16)}`;

/** The error for everyone who waits for something of a stream that was reset. */
export const resetText = (stream: number, code: number): string =>
  `stream error: stream ID ${stream}; ${resetName(code)}`;
