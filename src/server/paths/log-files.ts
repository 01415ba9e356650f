// /logs: the log files of this machine, with --enable-logs-handler.
import { cleanPath } from '../../lib/text/clean-path.js';
import { serveFile } from '../../lib/files/serve-file.js';
import { wrongMethod } from '../../machinery/status.js';
import type { PathHandler } from './paths.js';

const LOG_FOLDER = '/var/log';

export const logFiles =
  (folder = LOG_FOLDER): PathHandler =>
  (request, path) => {
    if (path !== '/logs' && !path.startsWith('/logs/')) return undefined;
    if (request.method !== 'GET') throw wrongMethod();
    return serveFile(request, path, cleanPath(folder, path.slice('/logs'.length)));
  };
