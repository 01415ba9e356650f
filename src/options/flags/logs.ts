import { defineTopic, SECOND_MS } from '../flag-table.js';

const ALPHA = 'Needs the LoggingAlphaOptions feature gate.';

export const logs = defineTopic({
  key: 'logs',
  title: 'logs',
  flags: {
    'log-flush-frequency': {
      type: 'duration',
      default: 5 * SECOND_MS,
      help: 'How long log lines may wait in a buffer.',
    },
    'log-json-info-buffer-size': {
      type: 'quantity',
      help: `[Alpha] The buffer of info lines in JSON logs with split streams; 0 for none. ${ALPHA}`,
    },
    'log-json-split-stream': {
      type: 'bool',
      help: `[Alpha] In JSON logs, errors to stderr and the rest to stdout. ${ALPHA}`,
    },
    'log-text-info-buffer-size': {
      type: 'quantity',
      help: `[Alpha] The buffer of info lines in text logs with split streams, as bytes (512), thousands (1k) or powers of 1024 (2Ki); 0 for none. ${ALPHA}`,
    },
    'log-text-split-stream': {
      type: 'bool',
      help: `[Alpha] In text logs, errors to stderr and the rest to stdout. ${ALPHA}`,
    },
    'logging-format': {
      type: 'string',
      default: 'text',
      help: "The format of log lines: 'text', or 'json' for an object each.",
    },
    v: { type: 'level', short: 'v', help: 'How much to log: 0 for little, 10 for all.' },
    vmodule: { type: 'modules', help: 'Other log levels for single files, by a pattern of their name.' },
  },
});
