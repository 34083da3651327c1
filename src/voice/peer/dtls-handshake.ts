/**
 * Makes the DTLS handshake of werift robust when responses are slow. A flight without a response is
 * sent again after 500 ms, so it may be answered twice. werift, as the client, treats a second
 * response to its first flight as the end of the connection. That breaks handshakes on a busy
 * machine or with a latency of 250 ms.
 */
import type { RTCDtlsTransport } from 'werift';

interface Handshake {
  msg_type: number;
}

/** The internals of a DTLS socket that are used; they exist once the handshake has started. */
interface DtlsSocketInternals {
  dtls: { flight: number };
  onHandleHandshakes: (messages: Handshake[]) => Promise<void>;
}

/**
 * `HelloVerifyRequest`, and the flight with which the client answers it (RFC 6347, section 4.2.4).
 */
const HELLO_VERIFY_REQUEST = 3;
const FLIGHT_AFTER_VERIFY_REQUEST = 3;

/** Any number above the last flight. */
const FLIGHT_AFTER_LAST = 99;

/** Ignores a verify request that was already answered. */
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
          messages.filter(({ msg_type }) => !isAnswered || msg_type !== HELLO_VERIFY_REQUEST),
        );
      };
    }
    return starting;
  };
}

/**
 * Aborts a running handshake. Without this, werift retransmits for 30 s, which keeps the process
 * alive.
 */
export function abortHandshake(transport: RTCDtlsTransport): void {
  const socket = socketOf(transport);
  if (socket) socket.dtls.flight = FLIGHT_AFTER_LAST;
}

function socketOf({ dtls }: RTCDtlsTransport): DtlsSocketInternals | undefined {
  return dtls as unknown as DtlsSocketInternals | undefined;
}
