import { AllocationError, type NodePortAllocator } from './allocators.js';

/** The first port a dry run shows is the one after this. */
const DRY_RUN_PORT = 32768;

/** The node ports one write of a service allocates and releases: kept when it succeeds, undone when it fails. */
export class NodePortOperation {
  readonly allocated = new Set<number>();
  private highest = DRY_RUN_PORT;
  /** What goes back once the write stands. */
  readonly releases: number[] = [];

  constructor(
    private readonly nodePorts: NodePortAllocator,
    private readonly dryRun: boolean,
  ) {}

  async take(port: number): Promise<void> {
    if (!this.dryRun) await this.nodePorts.take(port);
    else if (this.allocated.has(port) || (await this.nodePorts.isAllocated(port))) {
      throw new AllocationError('provided port is already allocated');
    }
    this.note(port);
  }

  async takeNext(): Promise<number> {
    const port = this.dryRun ? this.highest + 1 : await this.nodePorts.takeNext();
    this.note(port);
    return port;
  }

  private note(port: number): void {
    this.highest = this.allocated.size === 0 ? port : Math.max(this.highest, port);
    this.allocated.add(port);
  }

  releaseOnCommit(port: number): void {
    this.releases.push(port);
  }
}
