/** A UDP relay between two peers that delays every packet, or changes their order. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';

const ADDRESS = '127.0.0.1';
const candidate = /^(a=candidate:\S+ 1 udp \d+ 127\.0\.0\.1) (\d+) /m;

/** Rewrites the offer and the answer, so that both peers send to the relay. */
interface Relay {
  rewriteOffer: (sdp: string) => string;
  rewriteAnswer: (sdp: string) => string;
  /** Returns the number of relayed packets. */
  countPackets: () => number;
}

/** Changes the order of datagrams that arrive together, in one direction. */
export type ChangeOrder = (datagrams: readonly Buffer[]) => Buffer[];

/** Datagrams of one DTLS flight arrive within this time. */
const FLIGHT_MS = 60;

/**
 * Starts a relay, and stops it after the test. `delayMs` is called for each packet, and `createChange`
 * for each direction.
 */
export async function withRelay(
  t: Test,
  delayMs: () => number,
  createChange?: () => ChangeOrder,
): Promise<Relay> {
  const [toOffering, toAnswering] = [await bindSocket(t), await bindSocket(t)];
  const ports = { offering: 0, answering: 0 };
  let packets = 0;
  const forward = (from: Socket, to: Socket, port: () => number): void => {
    const changeFlight = createChange?.();
    let flight: Buffer[] = [];
    const sendFlight = (): void => {
      const datagrams = changeFlight?.(flight) ?? flight;
      flight = [];
      for (const datagram of datagrams) to.send(datagram, port(), ADDRESS, () => undefined);
    };
    from.on('message', (packet) => {
      packets += 1;
      if (changeFlight && isHandshake(packet)) {
        if (flight.push(packet) === 1) void systemClock.sleep(FLIGHT_MS).then(sendFlight);
        return;
      }
      const send = (): void => to.send(packet, port(), ADDRESS, () => undefined);
      const ms = delayMs();
      if (ms === 0) send();
      else void systemClock.sleep(ms).then(send);
    });
  };
  // Packets leave by the socket whose port their receiver knows.
  forward(toAnswering, toOffering, () => ports.offering);
  forward(toOffering, toAnswering, () => ports.answering);
  const rewrite = (sdp: string, side: 'offering' | 'answering', socket: Socket): string => {
    ports[side] = Number(candidate.exec(sdp)?.[2]);
    return sdp.replace(candidate, `$1 ${socket.address().port} `);
  };
  return {
    rewriteOffer: (sdp) => rewrite(sdp, 'offering', toAnswering),
    rewriteAnswer: (sdp) => rewrite(sdp, 'answering', toOffering),
    countPackets: () => packets,
  };
}

/** Whether a datagram belongs to a DTLS handshake (RFC 7983). */
const isHandshake = ([first = 0]: Buffer): boolean => first >= 20 && first <= 22;

async function bindSocket(t: Test): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, ADDRESS);
  await once(socket, 'listening');
  let isOpen = true;
  // Packets that are still delayed when the test ends are dropped.
  const send = socket.send.bind(socket) as (...parameters: unknown[]) => void;
  socket.send = (...parameters: unknown[]) => {
    if (isOpen) send(...parameters);
  };
  t.teardown(() => {
    isOpen = false;
    socket.close();
  });
  return socket;
}
