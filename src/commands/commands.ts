// All commands, in the order that help lists them.
import { backup } from './backup.js';
import type { Command } from './command.js';
import { cluster } from './cluster.js';
import { completion } from './completion.js';
import { defragment } from './defragment.js';
import { down } from './down.js';
import { encryption } from './encryption.js';
import { envtestAssets } from './envtest-assets.js';
import { etcd } from './etcd.js';
import { help } from './help.js';
import { kubeconfig } from './kubeconfig.js';
import { migrate } from './migrate.js';
import { restore } from './restore.js';
import { run } from './run.js';
import { serve } from './serve.js';
import { serveClusters } from './serve-clusters.js';
import { status } from './status.js';
import { up } from './up.js';
import { verify } from './verify.js';
import { version } from './version.js';

export const commands = (): readonly Command[] => [
  up,
  down,
  status,
  kubeconfig,
  run,
  cluster,
  serve,
  serveClusters,
  envtestAssets,
  etcd,
  encryption,
  backup,
  restore,
  migrate,
  defragment,
  verify,
  completion(commands),
  version,
  help(commands),
];
