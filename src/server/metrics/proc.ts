// What Linux reports of this process under /proc; nothing of it where there is no such folder.
import fs from 'node:fs';

export interface ProcessFacts {
  readonly openFiles: number;
  readonly maxOpenFiles: number;
  readonly virtualBytes: number;
  readonly maxVirtualBytes: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** No limit is reported as the largest number of the machine. */
const UNLIMITED = 2 ** 64;

export function processFacts(): ProcessFacts {
  const limits = readText('limits');
  const [names = [], values = []] = [...readText('net/netstat').matchAll(/^IpExt: (.*)$/gm)].map(([, rest = '']) =>
    rest.split(' '),
  );
  const octets = (name: string): number => Number(values[names.indexOf(name)] ?? 0);
  return {
    openFiles: countOpenFiles(),
    maxOpenFiles: limitOf(limits, 'Max open files'),
    virtualBytes: Number(/^VmSize:\s+(\d+) kB$/m.exec(readText('status'))?.[1] ?? 0) * 1024,
    maxVirtualBytes: limitOf(limits, 'Max address space'),
    receivedBytes: octets('InOctets'),
    sentBytes: octets('OutOctets'),
  };
}

function limitOf(limits: string, name: string): number {
  const line = limits.split('\n').find((one) => one.startsWith(name)) ?? '';
  const [soft = '0'] = line.slice(name.length).trim().split(' ');
  return soft === 'unlimited' ? UNLIMITED : Number(soft);
}

function countOpenFiles(): number {
  try {
    return fs.readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}

function readText(file: string): string {
  try {
    return fs.readFileSync(`/proc/self/${file}`, 'utf8');
  } catch {
    return '';
  }
}
