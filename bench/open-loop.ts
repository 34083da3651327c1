/**
 * Sends requests at a fixed rate, even if the server falls behind. It writes to plain sockets, because a
 * client library would use most of the processor. Connections stay open; each carries one request at a time.
 */
import { connect, type Socket } from 'node:net';
import { systemClock } from '../src/platform/clock.ts';

/** What clients saw. Times count from when a request was due. */
export interface Traffic {
  sent: number;
  /** Requests that were due while all connections were busy. */
  unsent: number;
  /** Responses by status; also `timeout`, and `lost` for a connection that ended early. */
  statuses: Record<string, number>;
  /** Milliseconds until each 200. */
  successMs: number[];
  /** Milliseconds until each 429 and 503. */
  refusalMs: number[];
  /** 429 and 503 without Retry-After. */
  refusedWithoutWait: number;
}

/** How to send. */
export interface TrafficOptions {
  url: string;
  seconds: number;
  /** Returns a complete HTTP request. */
  createRequest: () => Buffer;
  /** Requests per second; undefined to send the next one on each connection after a response. */
  rate: number | undefined;
  connectionsMax: number;
}

/** How long a client waits. The interface lets clients wait for 10 s. */
const WAIT_MS_MAX = 10_000;
const TICK_MS = 2;

/** Sends requests for a time, and waits for the last responses. */
export async function sendTraffic(options: TrafficOptions): Promise<Traffic> {
  const { seconds, rate, connectionsMax } = options;
  const sender = createSender(options);
  const startedMs = systemClock.monotonicMs();
  const endMs = startedMs + seconds * 1_000;
  if (rate === undefined) {
    for (let nth = 0; nth < connectionsMax; nth += 1) sender.send(startedMs);
  }
  let scheduled = 0;
  const dueMs = (): number => startedMs + (scheduled / (rate ?? 0)) * 1_000;
  for (let nowMs = startedMs; nowMs < endMs; nowMs = systemClock.monotonicMs()) {
    for (; dueMs() <= nowMs; scheduled += 1) sender.send(dueMs());
    sender.checkTimes();
    await systemClock.sleep(TICK_MS);
  }
  sender.stop();
  while (sender.isWaiting()) {
    await systemClock.sleep(TICK_MS);
    sender.checkTimes();
  }
  sender.close();
  return sender.traffic;
}

/** The connections of a measurement. */
interface Sender {
  traffic: Traffic;
  /** Sends a request as soon as a connection is free. */
  send: (dueMs: number) => void;
  /** Gives up on requests that wait for too long. */
  checkTimes: () => void;
  /** Sends no more requests. */
  stop: () => void;
  isWaiting: () => boolean;
  close: () => void;
}

function createSender({ url, rate, connectionsMax, createRequest }: TrafficOptions): Sender {
  const { hostname, port } = new URL(url);
  const traffic: Traffic = {
    sent: 0,
    unsent: 0,
    statuses: {},
    successMs: [],
    refusalMs: [],
    refusedWithoutWait: 0,
  };
  const idle: Connection[] = [];
  const connections = new Set<Connection>();
  let due: number[] = [];
  let isStopped = false;
  const sendDue = (): void => {
    let next = 0;
    for (; next < due.length; next += 1) {
      const connection = idle.pop() ?? (connections.size < connectionsMax ? open() : undefined);
      if (!connection) break;
      traffic.sent += 1;
      connection.send(createRequest(), due[next] ?? 0);
    }
    due = due.slice(next);
  };
  const open = (): Connection => {
    const connection = openConnection({ host: hostname, port: Number(port) }, (exchange) => {
      record(traffic, exchange);
      if (exchange.isOpen) idle.push(connection);
      else connections.delete(connection);
      if (isStopped) return;
      if (rate === undefined) due.push(systemClock.monotonicMs());
      sendDue();
    });
    connections.add(connection);
    return connection;
  };
  return {
    traffic,
    send(dueMs) {
      due.push(dueMs);
      sendDue();
    },
    checkTimes() {
      for (const connection of connections) connection.checkTime();
    },
    stop() {
      traffic.unsent = due.length;
      due = [];
      isStopped = true;
    },
    isWaiting: () => idle.length < connections.size,
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

function record(traffic: Traffic, { status, ms, hasWait }: Exchange): void {
  traffic.statuses[status] = (traffic.statuses[status] ?? 0) + 1;
  if (status === '200') traffic.successMs.push(ms);
  else if (status === '429' || status === '503') {
    traffic.refusalMs.push(ms);
    if (!hasWait) traffic.refusedWithoutWait += 1;
  }
}

interface Exchange {
  status: string;
  ms: number;
  hasWait: boolean;
  /** Whether the connection can send another request. */
  isOpen: boolean;
}

interface Connection {
  send: (request: Buffer, dueMs: number) => void;
  /** Gives up if the response takes too long. */
  checkTime: () => void;
  close: () => void;
}

function openConnection(
  address: { host: string; port: number },
  onExchange: (exchange: Exchange) => void,
): Connection {
  const socket: Socket = connect({ ...address, noDelay: true });
  const reader = createResponseReader();
  let sinceMs = NaN;
  const isWaiting = (): boolean => !Number.isNaN(sinceMs);
  const end = (status: string, isOpen: boolean): void => {
    const ms = systemClock.monotonicMs() - sinceMs;
    sinceMs = NaN;
    onExchange({ status, ms, hasWait: reader.hasWait(), isOpen });
  };
  socket.on('data', (chunk: Buffer) => {
    if (!isWaiting() || !reader.read(chunk)) return;
    const mustClose = reader.mustClose();
    if (mustClose) socket.destroy();
    end(reader.status(), !mustClose);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (isWaiting()) end('lost', false);
  });
  return {
    send(request, dueMs) {
      sinceMs = dueMs;
      reader.reset();
      socket.write(request);
    },
    checkTime() {
      if (!isWaiting() || systemClock.monotonicMs() - sinceMs < WAIT_MS_MAX) return;
      socket.destroy();
      end('timeout', false);
    },
    close: () => socket.destroy(),
  };
}

/** Finds the end of a response. */
function createResponseReader() {
  let head = '';
  let bytesLeft = NaN;
  let tail = '';
  return {
    reset() {
      [head, bytesLeft, tail] = ['', NaN, ''];
    },
    /** Returns whether the response is complete. */
    read(chunk: Buffer): boolean {
      let bytes = chunk.length;
      if (!head.includes('\r\n\r\n')) {
        const before = head.length;
        head += chunk.toString('latin1');
        const bodyAt = head.indexOf('\r\n\r\n') + 4;
        if (bodyAt < 4) return false;
        bytes = before + chunk.length - bodyAt;
        bytesLeft = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Infinity);
      }
      bytesLeft -= bytes;
      tail = (tail + chunk.subarray(-5).toString('latin1')).slice(-5);
      return bytesLeft === Infinity ? tail === '0\r\n\r\n' : bytesLeft <= 0;
    },
    status: (): string => head.slice(9, 12),
    hasWait: (): boolean => /\r\nretry-after: \d/i.test(head),
    mustClose: (): boolean => /\r\nconnection: close/i.test(head),
  };
}
