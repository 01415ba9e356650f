// SETTINGS of both endpoints, RFC 9113, section 6.5.
import { DEFAULT_TABLE_BYTES } from '../hpack/decoder.js';
import type { ByteWriter } from '../byte-writer.js';
import { ConnectionError, ErrorCode } from './error-code.js';
import {
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  Flag,
  FRAME_HEAD_BYTES,
  FrameType,
  MAX_FRAME_BYTES,
  MAX_WINDOW_BYTES,
  putFrameHead,
  read32,
} from './frames.js';

const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;
const SETTING_BYTES = 6;
/** More than anybody has to say. */
const MAX_SETTINGS = 100;

/** What the other end has said so far. What it does not concern us to know is checked and forgotten. */
export class PeerSettings {
  headerTableBytes = DEFAULT_TABLE_BYTES;
  initialWindowBytes = DEFAULT_WINDOW_BYTES;
  frameBytes = DEFAULT_FRAME_BYTES;
  /** How many streams may be open at once that we begin. */
  maxStreams = Number.MAX_SAFE_INTEGER;

  /** The payload of a frame without ACK. */
  read(bytes: Buffer, start: number, end: number): void {
    if ((end - start) % SETTING_BYTES !== 0)
      throw new ConnectionError(ErrorCode.frameSize, 'SETTINGS frame with a length that is not a multiple of 6');
    if (end - start > MAX_SETTINGS * SETTING_BYTES) {
      throw new ConnectionError(ErrorCode.enhanceYourCalm, 'too many settings in a SETTINGS frame');
    }
    for (let at = start; at < end; at += SETTING_BYTES) {
      this.#set(((bytes[at] as number) << 8) | (bytes[at + 1] as number), read32(bytes, at + 2));
    }
  }

  #set(setting: number, value: number): void {
    switch (setting) {
      case Setting.headerTableSize:
        this.headerTableBytes = value;
        return;
      case Setting.enablePush:
        if (value > 1) throw new ConnectionError(ErrorCode.protocol, 'SETTINGS_ENABLE_PUSH is neither 0 nor 1');
        return;
      case Setting.maxConcurrentStreams:
        this.maxStreams = value;
        return;
      case Setting.initialWindowSize:
        if (value > MAX_WINDOW_BYTES)
          throw new ConnectionError(ErrorCode.flowControl, 'SETTINGS_INITIAL_WINDOW_SIZE exceeds 2^31-1');
        this.initialWindowBytes = value;
        return;
      case Setting.maxFrameSize:
        if (value < DEFAULT_FRAME_BYTES || value > MAX_FRAME_BYTES) {
          throw new ConnectionError(ErrorCode.protocol, 'SETTINGS_MAX_FRAME_SIZE is out of range');
        }
        this.frameBytes = value;
    }
  }
}

interface OurSettings {
  readonly windowBytes: number;
  readonly frameBytes: number;
  readonly headerListBytes: number;
}

export const putServerSettings = (out: ByteWriter, settings: OurSettings & { readonly maxStreams: number }): void =>
  putSettings(out, [[Setting.maxConcurrentStreams, settings.maxStreams], ...sharedSettings(settings)]);

export const putClientSettings = (out: ByteWriter, settings: OurSettings): void =>
  putSettings(out, [[Setting.enablePush, 0], ...sharedSettings(settings)]);

const sharedSettings = (settings: OurSettings): readonly (readonly [number, number])[] => [
  [Setting.initialWindowSize, settings.windowBytes],
  [Setting.maxFrameSize, settings.frameBytes],
  [Setting.maxHeaderListSize, settings.headerListBytes],
];

function putSettings(out: ByteWriter, all: readonly (readonly [number, number])[]): void {
  out.ensure(FRAME_HEAD_BYTES + all.length * SETTING_BYTES);
  putFrameHead(out, all.length * SETTING_BYTES, { type: FrameType.settings, flags: 0, stream: 0 });
  for (const [setting, value] of all) {
    out.at = out.bytes.writeUInt16BE(setting, out.at);
    out.at = out.bytes.writeUInt32BE(value, out.at);
  }
}

export function putSettingsAck(out: ByteWriter): void {
  out.ensure(FRAME_HEAD_BYTES);
  putFrameHead(out, 0, { type: FrameType.settings, flags: Flag.ack, stream: 0 });
}
