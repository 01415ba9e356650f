// The clusters of one process, by their ids.
import fs from 'node:fs';
import path from 'node:path';
import type { SnapshotRequest, StartRequest } from '../protocol/control.js';
import { ControlError } from './control-error.js';
import { startCluster, type StartParts, type ThrowawayCluster } from './throwaway-cluster.js';

/** Each has a port and its informers: a test that forgets to stop its clusters finds out here. */
const MAX_CLUSTERS = 500;

export class Clusters {
  readonly #folder: string;
  readonly #onEmpty: () => void;
  readonly #running = new Map<string, ThrowawayCluster>();
  #started = 0;

  constructor({ folder, onEmpty }: { readonly folder: string; readonly onEmpty: () => void }) {
    this.#folder = folder;
    this.#onEmpty = onEmpty;
  }

  all(): readonly ThrowawayCluster[] {
    return [...this.#running.values()];
  }

  get(id: string): ThrowawayCluster {
    const cluster = this.#running.get(id);
    if (cluster === undefined) throw new ControlError(404, `no cluster ${id.slice(0, 100)} runs here`);
    return cluster;
  }

  start(request: StartRequest): Promise<ThrowawayCluster> {
    return this.#start({ request });
  }

  /** Another cluster with the state of a snapshot, or else of this moment. */
  fork(id: string, { snapshot }: SnapshotRequest): Promise<ThrowawayCluster> {
    const { snapshots, origin } = this.get(id);
    return this.#start({ request: origin.request, from: { state: snapshots.state(snapshot), origin } });
  }

  async #start(parts: Pick<StartParts, 'request' | 'from'>): Promise<ThrowawayCluster> {
    if (this.#running.size >= MAX_CLUSTERS) throw new ControlError(429, `${MAX_CLUSTERS} clusters run here already`);
    const id = `c${++this.#started}`;
    const folder = path.join(this.#folder, id);
    fs.mkdirSync(folder, { mode: 0o700 });
    try {
      const cluster = await startCluster({ id, folder, ...parts });
      this.#running.set(id, cluster);
      return cluster;
    } catch (error) {
      fs.rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async stop(id: string): Promise<void> {
    const cluster = this.get(id);
    this.#running.delete(id);
    await cluster.stop();
    // Without holding the other clusters up.
    await fs.promises.rm(path.join(this.#folder, id), { recursive: true, force: true });
    if (this.#running.size === 0) this.#onEmpty();
  }
}
