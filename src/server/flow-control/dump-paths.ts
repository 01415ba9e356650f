// /debug/api_priority_and_fairness/: the dumps of flow control, of all worker processes together.
import type { DumpRow } from '../../flowcontrol/dump-table.js';
import { type DumpRequest, DUMPS, dumpRows, dumpText } from '../../flowcontrol/dumps.js';
import type { FlowControl } from '../../flowcontrol/flow-control.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { whenReady } from '../../lib/async/maybe-promise.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { askAllWorkers } from '../../workers/ask-others.js';
import type { Channel } from '../../workers/channel.js';
import type { PathHandler } from '../paths/paths.js';

const FOLDER = '/debug/api_priority_and_fairness';
const TOPIC = 'flow-dump';

/** `channel`: where several processes are one server. */
export function dumpPaths(flowControl: Pick<FlowControl, 'levels'>, channel?: Channel): readonly PathHandler[] {
  const ownRows = (request: DumpRequest): DumpRow[] =>
    dumpRows(request, { levels: flowControl.levels, epochOf: (clockMs) => performance.timeOrigin + clockMs });
  channel?.handle(TOPIC, (request) => ownRows(request as DumpRequest));
  const allRows = (request: DumpRequest): MaybePromise<readonly DumpRow[]> =>
    channel === undefined
      ? ownRows(request)
      : askAllWorkers(channel, TOPIC, request).then((answers) => answers.flatMap((rows) => rows as DumpRow[]));
  return DUMPS.map((name) => ({ query }, path) => {
    if (path !== `${FOLDER}/dump_${name}`) return undefined;
    const request = { name, details: (query.get('includeRequestDetails') ?? '') !== '' };
    return whenReady(allRows(request), (rows) => plain(dumpText(request, rows)));
  });
}

const plain = (text: string): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: text,
});
