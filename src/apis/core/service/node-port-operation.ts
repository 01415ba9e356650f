import { AllocationError, type NodePortAllocator } from './allocators.js';

/** The first port a dry run shows is the one after this. */
const DRY_RUN_PORT = 32768;

/** The node ports one write of a service takes and gives back: kept when it succeeds, undone when it fails. */
export class NodePortOperation {
  readonly taken: number[] = [];
  /** What goes back once the write stands. */
  readonly releases: number[] = [];

  constructor(
    private readonly nodePorts: NodePortAllocator,
    private readonly dryRun: boolean,
  ) {}

  async take(port: number): Promise<void> {
    if (!this.dryRun) await this.nodePorts.take(port);
    else if (this.taken.includes(port) || (await this.nodePorts.isTaken(port))) {
      throw new AllocationError('provided port is already allocated');
    }
    this.taken.push(port);
  }

  async takeNext(): Promise<number> {
    const port = this.dryRun
      ? Math.max(...this.taken, this.taken.length === 0 ? DRY_RUN_PORT : 0) + 1
      : await this.nodePorts.takeNext();
    this.taken.push(port);
    return port;
  }

  releaseOnCommit(port: number): void {
    this.releases.push(port);
  }
}
