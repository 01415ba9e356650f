import { defineTopic } from '../flag-table.js';

export const admission = defineTopic({
  key: 'admission',
  title: 'admission',
  flags: {
    'admission-control': {
      type: 'strings',
      help: 'The admission plugins to run, and no others.',
      deprecated:
        'Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.',
    },
    'admission-control-config-file': {
      type: 'string',
      help: 'The file (AdmissionConfiguration) with the settings of admission plugins.',
    },
    'default-not-ready-toleration-seconds': {
      type: 'int',
      default: 300,
      help: 'How many seconds a pod without a toleration of its own stays on a node that is not ready.',
    },
    'default-unreachable-toleration-seconds': {
      type: 'int',
      default: 300,
      help: 'How many seconds a pod without a toleration of its own stays on a node that cannot be reached.',
    },
    'disable-admission-plugins': {
      type: 'strings',
      help: 'Admission plugins to turn off among those that are on by default. The order does not matter.',
    },
    'enable-admission-plugins': {
      type: 'strings',
      help: 'Admission plugins to turn on besides those that are on by default. The order does not matter.',
    },
  },
});
