import { defineTopic } from '../options/flag-table.js';
import type { Command } from './command.js';

const topic = defineTopic({
  key: 'encryption',
  title: 'encryption',
  flags: {
    kubeconfig: { type: 'string', help: 'Which server, and as whom. By default $KUBECONFIG or ~/.kube/config.' },
    rate: { type: 'string', default: '100', help: 'How many objects are rewritten in a second, at most.' },
  },
});

export const encryption: Command = {
  name: 'encryption',
  summary: 'shows and changes which keys encrypt what a running server stores',
  usage: [
    'encryption status                      how many stored objects each key encrypts',
    'encryption rewrite [--rate=100]        moves what is not under the first key to it',
    'encryption may-remove PROVIDER [KEY]   whether a key may be taken out of the configuration',
  ],
  about: 'Shows and changes which keys encrypt what a running server stores.',
  topics: [topic],
  words: ['status', 'rewrite', 'may-remove'],
  async run(args, parts) {
    const { runEncryptionCommand } = await import('../server/storage/encryption-command.js');
    return runEncryptionCommand(args, parts);
  },
};
