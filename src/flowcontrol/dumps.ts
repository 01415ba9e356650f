// How things stand, for operators: one line for each level, queue or request, in padded columns.
import type { RequestInfo } from '../machinery/request-info.js';
import { formatDurationMs } from '../machinery/time.js';
import type { Ticket } from './ticket.js';
import type { LevelSubject, PriorityLevel } from './level.js';

export interface DumpOptions {
  readonly levels: readonly PriorityLevel[];
  /** When a time of the levels' clock was, in milliseconds since the epoch. */
  readonly epochOf: (clockMs: number) => number;
}

export function dumpPriorityLevels({ levels }: DumpOptions): string {
  const header = [
    'PriorityLevelName',
    'ActiveQueues',
    'IsIdle',
    'IsQuiescing',
    'WaitingRequests',
    'ExecutingRequests',
    'DispatchedRequests',
    'RejectedRequests',
    'TimedoutRequests',
    'CancelledRequests',
  ];
  return table([
    header,
    ...levels.map(({ name, quiescing, queues }) => [
      name,
      String(queues.queues.filter(({ waiting }) => waiting.size > 0).length),
      String(queues.idle),
      String(quiescing),
      String(queues.waiting),
      String(queues.executing),
      String(queues.dispatched),
      String(queues.rejected),
      // Nobody counts here: those that waited too long are among the cancelled.
      '0',
      String(queues.cancelled),
    ]),
  ]);
}

export function dumpQueues({ levels }: DumpOptions): string {
  const header = [
    'PriorityLevelName',
    'Index',
    'PendingRequests',
    'ExecutingRequests',
    'SeatsInUse',
    'NextDispatchR',
    'InitialSeatsSum',
    'MaxSeatsSum',
    'TotalWorkSum',
  ];
  return table([
    header,
    ...levels.flatMap(({ name, queues }) =>
      queues.queues.map((queue) => [
        name,
        String(queue.index),
        String(queue.waiting.size),
        String(queue.executing.size),
        String(queue.seatsInUse),
        seatSeconds(queue.nextStart),
        String(queue.waitingInitialSeats),
        String(queue.waitingSeats),
        seatSeconds(queue.waitingWork),
      ]),
    ),
  ]);
}

export function dumpRequests({ levels, epochOf }: DumpOptions, details: boolean): string {
  const header = [
    'PriorityLevelName',
    'FlowSchemaName',
    'QueueIndex',
    'RequestIndexInQueue',
    // Misspelt in kube-apiserver, and so in what people have written to read it.
    'FlowDistingsher',
    'ArriveTime',
    'InitialSeats',
    'FinalSeats',
    'AdditionalLatency',
    'StartTime',
  ];
  const more = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];
  const rows = levels.flatMap(({ name, queues }) => {
    const row = (queue: number, place: number, ticket: Ticket<LevelSubject>): string[] => [
      name,
      ticket.schema,
      String(queue),
      String(place),
      ticket.distinguisher,
      instant(epochOf(ticket.arrivedMs)),
      String(ticket.estimate.initialSeats),
      String(ticket.finalSeats),
      formatDurationMs(ticket.lingerMs),
      ticket.startedMs === undefined ? NEVER : instant(epochOf(ticket.startedMs)),
      ...(details ? detailsOf(ticket.subject) : []),
    ];
    return [
      ...queues.queues.flatMap(({ index, waiting, executing }) => [
        ...[...waiting].map((ticket, place) => row(index, place, ticket)),
        ...[...executing].map((ticket) => row(index, -1, ticket)),
      ]),
      ...[...queues.queueless].map((ticket) => row(-1, -1, ticket)),
    ];
  });
  return table([details ? [...header, ...more] : header, ...rows]);
}

const detailsOf = ({ info, user }: LevelSubject): string[] => [
  user.name,
  info.verb,
  info.path,
  info.namespace,
  info.name,
  apiVersionOf(info),
  info.resource,
  info.subresource,
];

const apiVersionOf = ({ apiGroup, apiVersion }: RequestInfo): string =>
  apiGroup === '' ? apiVersion : `${apiGroup}/${apiVersion}`;

const NEVER = '0001-01-01T00:00:00Z';
const instant = (epochMs: number): string => new Date(epochMs).toISOString();
const seatSeconds = (seatMs: number): string => `${(seatMs / 1000).toFixed(8)}ss`;

const MIN_WIDTH = 8;

/** Every cell but a line's last ends with a comma and is padded to the widest of its column. */
function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? MIN_WIDTH, cell.length + 2)));
  }
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === row.length - 1 ? cell : `${cell},`.padEnd(widths[i] ?? 0))).join('');
  return rows.map((row) => `${line(row)}\n`).join('');
}
