// One audit log of several processes: the supervisor writes the file and rotates it; a worker waits until its lines are there.
import type { LineWriter } from '../../audit/log-backend.js';
import { errorText } from '../../lib/text/error-text.js';
import type { SupervisorLink } from '../../workers/supervisor-link.js';

interface Lines {
  readonly bytes: Buffer;
  readonly ends: readonly number[];
}

/** In a worker. */
export const sharedAuditLog = ({ channel }: Pick<SupervisorLink, 'channel'>): LineWriter => ({
  async write({ bytes, ends }) {
    try {
      const failures = (await channel.ask('audit', { bytes, ends } satisfies Lines)) as Failures;
      return failures?.map((failure) => (failure === null ? undefined : new Error(failure)));
    } catch (error) {
      return ends.map(() => error as Error);
    }
  },
  close: () => Promise.resolve(),
});

/** By line; null for one that is written. Undefined where all are. */
type Failures = readonly (string | null)[] | undefined;

/** In the supervisor. */
export const writeForWorkers =
  (writer: LineWriter) =>
  async (content: unknown): Promise<Failures> => {
    const { bytes, ends } = content as Lines;
    const failures = await writer.write({ bytes, ends, isPart: false });
    return failures && ends.map((_, line) => (failures[line] === undefined ? null : errorText(failures[line])));
  };
