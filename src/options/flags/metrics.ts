import { defineTopic } from '../flag-table.js';

export const metrics = defineTopic({
  key: 'metrics',
  title: 'metrics',
  flags: {
    'allow-metric-labels': {
      type: 'stringToString',
      help: "The values a metric's label may have, all others being counted as 'unexpected': 'metric,label=value,value'. May be repeated.",
    },
    'allow-metric-labels-manifest': { type: 'string', help: 'A file with the same; the flag wins over it.' },
    'disabled-metrics': {
      type: 'strings',
      help: 'Metrics to leave out, by their full names. Wins over --show-hidden-metrics-for-version.',
    },
    'show-hidden-metrics-for-version': {
      type: 'string',
      help: 'Show metrics that were hidden since the given release, which can only be the previous one.',
    },
  },
});
