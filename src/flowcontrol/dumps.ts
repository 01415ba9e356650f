// How things stand, for operators: one line for each level, queue or request.
import type { RequestInfo } from '../machinery/request-info.js';
import { formatDurationMs } from '../machinery/time.js';
import { type DumpColumn, type DumpRow, mergeRows, tableText } from './dump-table.js';
import type { Ticket } from './ticket.js';
import type { LevelSubject, PriorityLevel } from './level.js';

export interface DumpRequest {
  readonly name: 'priority_levels' | 'queues' | 'requests';
  /** Of requests: whose they are, and what they are for. */
  readonly details: boolean;
}

export interface DumpState {
  readonly levels: readonly PriorityLevel[];
  /** When a time of the levels' clock was, in milliseconds since the epoch. */
  readonly epochOf: (clockMs: number) => number;
}

export const DUMPS: readonly DumpRequest['name'][] = ['priority_levels', 'queues', 'requests'];

/** Of one process. */
export function dumpRows({ name, details }: DumpRequest, state: DumpState): DumpRow[] {
  switch (name) {
    case 'priority_levels':
      return state.levels.map(levelRow);
    case 'queues':
      return state.levels.flatMap(queueRows);
    case 'requests':
      return state.levels.flatMap((level) => requestRows(level, state.epochOf, details));
  }
}

/** Of the rows of all processes. */
export function dumpText({ name, details }: DumpRequest, rows: readonly DumpRow[]): string {
  switch (name) {
    case 'priority_levels':
      return tableText(LEVEL_COLUMNS, mergeRows(LEVEL_COLUMNS, rows));
    case 'queues':
      return tableText(QUEUE_COLUMNS, mergeRows(QUEUE_COLUMNS, rows));
    case 'requests':
      return tableText(details ? [...REQUEST_COLUMNS, ...DETAIL_COLUMNS] : REQUEST_COLUMNS, rows);
  }
}

const LEVEL_COLUMNS: readonly DumpColumn[] = [
  { title: 'PriorityLevelName' },
  { title: 'ActiveQueues', across: 'sum' },
  { title: 'IsIdle', across: 'every' },
  { title: 'IsQuiescing', across: 'some' },
  { title: 'WaitingRequests', across: 'sum' },
  { title: 'ExecutingRequests', across: 'sum' },
  { title: 'DispatchedRequests', across: 'sum' },
  { title: 'RejectedRequests', across: 'sum' },
  { title: 'TimedoutRequests', across: 'sum' },
  { title: 'CancelledRequests', across: 'sum' },
];

const levelRow = ({ name, quiescing, queues }: PriorityLevel): DumpRow => [
  name,
  queues.queues.filter(({ waiting }) => waiting.size > 0).length,
  queues.idle,
  quiescing,
  queues.waiting,
  queues.executing,
  queues.dispatched,
  queues.rejected,
  // Nobody counts here: those that waited too long are among the cancelled.
  0,
  queues.cancelled,
];

const seatSeconds = (seatMs: number): string => `${(seatMs / 1000).toFixed(8)}ss`;

const QUEUE_COLUMNS: readonly DumpColumn[] = [
  { title: 'PriorityLevelName' },
  { title: 'Index' },
  { title: 'PendingRequests', across: 'sum' },
  { title: 'ExecutingRequests', across: 'sum' },
  { title: 'SeatsInUse', across: 'sum' },
  { title: 'NextDispatchR', across: 'max', text: seatSeconds },
  { title: 'InitialSeatsSum', across: 'sum' },
  { title: 'MaxSeatsSum', across: 'sum' },
  { title: 'TotalWorkSum', across: 'sum', text: seatSeconds },
];

const queueRows = ({ name, queues }: PriorityLevel): DumpRow[] =>
  queues.queues.map((queue) => [
    name,
    queue.index,
    queue.waiting.size,
    queue.executing.size,
    queue.seatsInUse,
    queue.nextStart,
    queue.waitingInitialSeats,
    queue.waitingSeats,
    queue.waitingWork,
  ]);

const REQUEST_COLUMNS: readonly DumpColumn[] = [
  { title: 'PriorityLevelName' },
  { title: 'FlowSchemaName' },
  { title: 'QueueIndex' },
  { title: 'RequestIndexInQueue' },
  // Misspelt in kube-apiserver, and so in what people have written to read it.
  { title: 'FlowDistingsher' },
  { title: 'ArriveTime' },
  { title: 'InitialSeats' },
  { title: 'FinalSeats' },
  { title: 'AdditionalLatency' },
  { title: 'StartTime' },
];

const DETAIL_COLUMNS: readonly DumpColumn[] = [
  { title: 'UserName' },
  { title: 'Verb' },
  { title: 'APIPath' },
  { title: 'Namespace' },
  { title: 'Name' },
  { title: 'APIVersion' },
  { title: 'Resource' },
  { title: 'SubResource' },
];

function requestRows(
  { name, queues }: PriorityLevel,
  epochOf: DumpState['epochOf'],
  details: boolean,
): readonly DumpRow[] {
  const row = (queue: number, place: number, ticket: Ticket<LevelSubject>): DumpRow => [
    name,
    ticket.schema,
    queue,
    place,
    ticket.distinguisher,
    instant(epochOf(ticket.arrivedMs)),
    ticket.estimate.initialSeats,
    ticket.finalSeats,
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
}

const detailsOf = ({ info, user }: LevelSubject): readonly string[] => [
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
