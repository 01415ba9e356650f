// What runs on nodes, with the real kubectl: a test kubelet runs real commands.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Kubectl, kubectlProgram, kubectlWith, NO_KUBECTL } from './support/kubectl.js';
import { type TestKubelet, startTestKubelet } from './support/kubelet.js';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const program = kubectlProgram();
const PODS = '/api/v1/namespaces/default/pods';
/** How clients request streams: by WebSockets, as they do of themselves, or by SPDY, as older ones do. */
const WAYS = {
  WebSockets: {},
  SPDY: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' },
} as const;

describe('kubectl and nodes', { skip: program === undefined && NO_KUBECTL, timeout: 60_000 }, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  let kubelet: TestKubelet;
  let commands: string;
  before(async () => {
    server = await startTestServer();
    kubectl = kubectlWith(program ?? '', server.kubeconfig, server.folder);
    commands = path.join(server.folder, 'commands');
    fs.mkdirSync(commands);
    const pki = (name: string): string => path.join(server.folder, 'pki', name);
    kubelet = await startTestKubelet({ cert: pki('apiserver.crt'), key: pki('apiserver.key'), folder: commands });
    await server.request('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    await server.request('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
    };
    await server.request('PATCH', '/api/v1/nodes/n/status', { status }, 'application/merge-patch+json');
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i', stdin: true, tty: false }] };
    const made = await server.request('POST', PODS, { metadata: { name: 'p' }, spec });
    assert.equal(made.status, 201, made.body);
    const running = {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [
        { name: 'c', image: 'i', imageID: 'i', ready: true, restartCount: 0, state: { running: {} } },
      ],
    };
    await server.request('PATCH', `${PODS}/p/status`, { status: running }, 'application/merge-patch+json');
  });
  after(async () => {
    kubelet.close();
    await server.stop();
  });

  it('logs are read, and followed until the kubelet ends them', async () => {
    assert.equal((await kubectl('logs p --tail=5')).out, 'hello from /containerLogs/default/p/c?tailLines=5\n');
    kubelet.onLog = (_request, write, end) => {
      write('one\n');
      setImmediate(() => {
        write('two\n');
        end();
      });
    };
    assert.equal((await kubectl('logs -f p')).out, 'one\ntwo\n');
    kubelet.onLog = undefined;
  });

  for (const [way, env] of Object.entries(WAYS)) {
    it(`exec passes input, both outputs and the exit code, by ${way}`, async () => {
      const echoed = await kubectl(`exec -i p -- sh -c 'cat; echo oops >&2; exit 7'`, {
        input: 'hello\n',
        env,
        code: 7,
      });
      assert.equal(echoed.out, 'hello\n');
      assert.match(echoed.err, /^oops\n/);
      const large = 'x'.repeat(3_000_000);
      assert.equal((await kubectl('exec -i p -- wc -c', { input: large, env })).out.trim(), '3000000');
      const much = await kubectl(`exec p -- sh -c 'head -c 900000 /dev/zero | tr "\\0" y'`, { env });
      assert.equal(much.out, 'y'.repeat(900_000));
    });

    it(`attach reaches the process that runs, by ${way}`, async () => {
      assert.match((await kubectl('attach -i p', { input: 'to it\n', env })).out, /to it\n$/);
    });

    it(`cp brings files in and out, by ${way}`, async () => {
      const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));
      fs.writeFileSync(path.join(server.folder, 'in'), bytes);
      await kubectl(`cp in p:${commands}/${way}`, { env });
      assert.ok(fs.readFileSync(path.join(commands, way)).equals(bytes));
      await kubectl(`cp p:${commands}/${way} out-${way}`, { env });
      assert.ok(fs.readFileSync(path.join(server.folder, `out-${way}`)).equals(bytes));
    });

    it(`port-forward carries connections, by ${way}`, async () => {
      const web = http.createServer((request, response) => response.end(`web ${request.url}`));
      await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
      const { port } = web.address() as AddressInfo;
      const child = spawn(program ?? '', ['port-forward', 'p', `:${port}`], {
        env: { PATH: process.env['PATH'], HOME: server.folder, KUBECONFIG: server.kubeconfig, ...env },
      });
      try {
        const local = await new Promise<string>((resolve, reject) => {
          let text = '';
          child.once('exit', () => reject(new Error(text)));
          child.stderr.on('data', (piece: Buffer) => (text += piece.toString()));
          child.stdout.on('data', (piece: Buffer) => {
            const found = /127\.0\.0\.1:(\d+) ->/.exec((text += piece.toString()));
            if (found?.[1] !== undefined) resolve(found[1]);
          });
        });
        for (const at of ['/a', '/b']) {
          assert.equal(await (await fetch(`http://127.0.0.1:${local}${at}`)).text(), `web ${at}`);
        }
      } finally {
        child.kill();
        web.close();
      }
    });
  }

  it('exec -it has a terminal, whose size the process learns', async () => {
    const command = `stty rows 24 cols 80; ${program} exec -it p -- sh -c 'read line; echo got $line'`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], HOME: server.folder, KUBECONFIG: server.kubeconfig, SHELL: '/bin/sh' },
    });
    let text = '';
    const answer = (piece: Buffer): void => {
      text += piece.toString();
      if (!text.includes('"Height":24}')) return;
      child.stdout.removeListener('data', answer);
      child.stdout.on('data', (more: Buffer) => (text += more.toString()));
      child.stdin.write('typed\n');
    };
    child.stdout.on('data', answer);
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.match(text, /size \{"Width":80,"Height":24\}/);
    assert.match(text, /got typed/);
    assert.equal(code, 0);
  });

  it('a proxy that people run locally leads to the kubelet', async () => {
    const child = spawn(program ?? '', ['proxy', '--port=0'], {
      env: { PATH: process.env['PATH'], HOME: server.folder, KUBECONFIG: server.kubeconfig },
    });
    try {
      const address = await new Promise<string>((resolve) => {
        child.stdout.on('data', (piece: Buffer) => {
          const found = /127\.0\.0\.1:\d+/.exec(piece.toString());
          if (found !== null) resolve(found[0]);
        });
      });
      const log = await fetch(`http://${address}${PODS}/p/log`);
      assert.equal(await log.text(), 'hello from /containerLogs/default/p/c\n');
    } finally {
      child.kill();
    }
  });

  it('a kubelet that goes in the middle of a log, or of a command, is felt there only', async () => {
    let socket: { destroy(): void } | undefined;
    kubelet.onLog = (request, write) => {
      socket = request.socket;
      write('half\n');
    };
    const cut = server.request('GET', `${PODS}/p/log?follow=true`);
    while (socket === undefined) await new Promise(setImmediate);
    socket.destroy();
    assert.equal((await cut).body, 'half\n');
    kubelet.onLog = undefined;
    const hung = startHangingKubelet();
    await hung.ready;
    await server.request('POST', '/api/v1/nodes', { metadata: { name: 'hung' } });
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: hung.port() } },
    };
    await server.request('PATCH', '/api/v1/nodes/hung/status', { status }, 'application/merge-patch+json');
    const spec = { nodeName: 'hung', containers: [{ name: 'c', image: 'i' }] };
    await server.request('POST', PODS, { metadata: { name: 'q' }, spec });
    const waiting = server.request('GET', `${PODS}/q/log`);
    assert.equal((await server.request('GET', `${PODS}/p/log`)).status, 200);
    hung.answer('this is no HTTP\r\n\r\n');
    const garbage = await waiting;
    assert.equal(garbage.status, 500);
    assert.equal((await server.request('GET', `${PODS}/p`)).status, 200);
    hung.close();
  });

  it('what is followed and what runs goes on while the server ends, and ends by itself', async () => {
    let finish: (() => void) | undefined;
    kubelet.onLog = (_request, write, end) => {
      write('before\n');
      finish = () => {
        write('after\n');
        end();
      };
    };
    const flag = path.join(commands, 'over');
    const ran = kubectl(
      `exec p -- sh -c 'touch started; while [ ! -e over ]; do sleep 0.05; done; echo done; exit 3'`,
      { code: 3 },
    );
    const followed = kubectl('logs -f p');
    const finishLog = await pollUntil(() => (fs.existsSync(path.join(commands, 'started')) ? finish : undefined));
    const stopped = server.stop();
    await pollUntil(() => server.log().includes('Stopped listening'));
    finishLog();
    fs.writeFileSync(flag, '');
    assert.equal((await followed).out, 'before\nafter\n');
    assert.equal((await ran).out, 'done\n');
    await stopped;
  });
});

/** Accepts connections and sends nothing until it gets what to send. */
function startHangingKubelet(): {
  ready: Promise<void>;
  port: () => number;
  answer: (bytes: string) => void;
  close: () => void;
} {
  const sockets = new Set<net.Socket>();
  let said: string | undefined;
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (said !== undefined) socket.end(said);
  });
  return {
    ready: new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)),
    port: () => (server.address() as AddressInfo).port,
    answer: (bytes) => {
      said = bytes;
      for (const socket of sockets) socket.end(bytes);
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
