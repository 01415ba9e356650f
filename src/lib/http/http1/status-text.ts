import { STATUS_CODES } from 'node:http';

/** What stands behind a status on an answer's first line, in kube-apiserver's words. */
export const statusText = (status: number): string => OTHERS[status] ?? STATUS_CODES[status] ?? `status code ${status}`;

/** Where these are older than Node's. */
const OTHERS: Readonly<Record<number, string>> = {
  413: 'Request Entity Too Large',
  414: 'Request URI Too Long',
  416: 'Requested Range Not Satisfiable',
  418: "I'm a teapot",
  509: 'status code 509',
};
