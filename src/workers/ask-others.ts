// Questions of one worker process to others, by the supervisor.
import type { Channel } from './channel.js';
import type { Supervisor } from './supervisor.js';

interface Question {
  readonly topic: string;
  readonly content: unknown;
}

interface QuestionToOne extends Question {
  readonly index: number;
}

const TO_ALL = 'ask-all';
const TO_ONE = 'ask-one';

/** In a worker: the answers of all, this one among them, in the order of their ages. Those that do not answer in time are left out. */
export const askAllWorkers = async (channel: Channel, topic: string, content?: unknown): Promise<readonly unknown[]> =>
  (await channel.ask(TO_ALL, { topic, content } satisfies Question)) as readonly unknown[];

/** In a worker: the answer of the one with this index, however long that takes. */
export const askWorker = (channel: Channel, index: number, topic: string, content?: unknown): Promise<unknown> =>
  channel.ask(TO_ONE, { index, topic, content } satisfies QuestionToOne);

/** In the supervisor. */
export function relayQuestions(supervisor: Supervisor): void {
  supervisor.handle(TO_ONE, (question) => {
    const { index, topic, content } = question as QuestionToOne;
    const worker = supervisor.workers.find((other) => other.index === index);
    if (worker === undefined) throw new Error(`worker process ${index} is being replaced`);
    return worker.channel.ask(topic, content);
  });
  supervisor.handle(TO_ALL, async (question) => {
    const { topic, content } = question as Question;
    const answers = await supervisor.askAll(topic, content);
    return answers.map((answer) => answer.content);
  });
}
