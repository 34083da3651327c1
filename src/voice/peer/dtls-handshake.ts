/**
 * The DTLS handshake of werift where answers take long. A flight without an answer is sent again after
 * half a second, and so it may be answered twice. werift, as the client, takes the second answer to
 * its first flight for the end of the connection: a busy machine, or a way of 250 ms, breaks it then.
 */
import type { RTCDtlsTransport } from 'werift';

interface Handshake {
  msg_type: number;
}

/** The part of a DTLS socket that is used; it is there once the handshake has started. */
interface DtlsSocketInternals {
  dtls: { flight: number };
  onHandleHandshakes: (messages: Handshake[]) => Promise<void>;
}

/** `HelloVerifyRequest`, and the flight by which the client answers it (RFC 6347, 4.2.4). */
const HELLO_VERIFY_REQUEST = 3;
const FLIGHT_AFTER_VERIFY_REQUEST = 3;

/** Beyond the last flight. */
const FLIGHT_AFTER_LAST = 99;

/** Passes over what asks again for what was sent. */
export function ignoreRepeatedVerifyRequests(transport: RTCDtlsTransport): void {
  const start = transport.start.bind(transport);
  transport.start = () => {
    const starting = start();
    const socket = socketOf(transport);
    if (socket) {
      const handle = socket.onHandleHandshakes;
      socket.onHandleHandshakes = async (messages) => {
        const isAnswered = socket.dtls.flight >= FLIGHT_AFTER_VERIFY_REQUEST;
        await handle(
          messages.filter((one) => !isAnswered || one.msg_type !== HELLO_VERIFY_REQUEST),
        );
      };
    }
    return starting;
  };
}

/**
 * Ends a handshake that is under way: one that nobody answers any more sends for half a minute, and
 * keeps the process up for so long.
 */
export function abortHandshake(transport: RTCDtlsTransport): void {
  const socket = socketOf(transport);
  if (socket) socket.dtls.flight = FLIGHT_AFTER_LAST;
}

function socketOf({ dtls }: RTCDtlsTransport): DtlsSocketInternals | undefined {
  return dtls as unknown as DtlsSocketInternals | undefined;
}
