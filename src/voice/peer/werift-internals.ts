/**
 * The internals of werift that the peer depends on. The package is pinned to one release;
 * `assertInternals` reports at the first call what another release lacks.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Socket } from 'node:dgram';
import {
  MediaStreamTrack,
  type RTCDtlsTransport,
  type RTCIceTransport,
  type RTCPeerConnection,
  type RTCRtpReceiver,
  type RTCRtpTransceiver,
} from 'werift';

/** The installed release of werift lacks internals that the peer needs. */
export class UnsupportedWeriftError extends Error {
  override name = 'UnsupportedWeriftError';
}

interface Candidates {
  localCandidate: unknown;
  remoteAddr: readonly [string, number];
  protocol: {
    request(
      message: unknown,
      address: readonly [string, number],
      integrityKey: Buffer,
      options: { retransmissions: number; responseTimeout: number },
    ): Promise<unknown>;
  };
}

interface StunRequest {
  getAttributeValue(name: 'USERNAME'): unknown;
}

/** The internals of an ICE connection that are used. */
interface IceInternals {
  stunServer: unknown;
  nominated: Candidates | undefined;
  localUsername: string;
  remoteUsername: string;
  remotePassword: string;
  iceControlling: boolean;
  checkList: unknown[];
  protocols: {
    transport?: { socket?: Socket };
    onRequestReceived: { subscribe(listener: (request: StunRequest) => void): unknown };
  }[];
  connect(): Promise<void>;
  buildRequest(options: object): unknown;
}

const KEY_NAMES = [
  'srtpSessionKey',
  'srtcpSessionKey',
  'srtpSessionAuthTag',
  'srtcpSessionAuthTag',
] as const;
type Cipher = Partial<Record<(typeof KEY_NAMES)[number], Buffer | KeyObject>>;
interface SrtpInternals {
  localContext: { cipher: Cipher };
  remoteContext: { cipher: Cipher };
}

interface RouterInternals {
  ssrcTable: Record<number, unknown>;
  registerRtpReceiver(receiver: RTCRtpReceiver, ssrc: number): void;
}

/** Number of unannounced senders per call that are routed. */
const UNANNOUNCED_SENDERS_MAX = 4;

/** Verifies that the internals exist. @throws UnsupportedWeriftError that lists what is missing. */
export function assertInternals(connection: RTCPeerConnection): void {
  const [ice] = connection.iceTransports;
  const [dtls] = connection.dtlsTransports;
  const exists: Record<string, boolean> = {
    'iceTransports[0].connection.stunServer': ice !== undefined && 'stunServer' in ice.connection,
    'iceTransports[0].connection.protocols':
      ice !== undefined && Array.isArray(internalsOf(ice).protocols),
    'iceTransports[0].connection.buildRequest':
      ice !== undefined && typeof internalsOf(ice).buildRequest === 'function',
    'iceTransports[0].connection.connect':
      ice !== undefined && typeof internalsOf(ice).connect === 'function',
    'iceTransports[0].connection.checkList':
      ice !== undefined && Array.isArray(internalsOf(ice).checkList),
    'dtlsTransports[0].startSrtp': typeof dtls?.startSrtp === 'function',
    'dtlsTransports[0].start': typeof dtls?.start === 'function',
    'dtlsTransports[0].sendRtp': typeof dtls?.sendRtp === 'function',
    'router.ssrcTable': typeof routerOf(connection).ssrcTable === 'object',
    'router.registerRtpReceiver': typeof routerOf(connection).registerRtpReceiver === 'function',
  };
  const missing = Object.keys(exists).filter((name) => exists[name] !== true);
  if (missing.length > 0)
    throw new UnsupportedWeriftError(`This release of werift has no ${missing.join(', no ')}`);
}

/** Prevents STUN requests: with an empty server list, werift would use a public STUN server. */
export function disableStunServers(connection: RTCPeerConnection): void {
  for (const ice of connection.iceTransports) internalsOf(ice).stunServer = undefined;
}

/**
 * Delays the connection until `waitForCandidate` resolves if there is no candidate yet. werift would fail
 * immediately, although a candidate may arrive a moment later.
 */
export function delayConnect(
  connection: RTCPeerConnection,
  waitForCandidate: () => Promise<unknown>,
): void {
  for (const transport of connection.iceTransports) {
    const ice = internalsOf(transport);
    const connect = ice.connect.bind(ice);
    ice.connect = async () => {
      if (ice.checkList.length === 0) await waitForCandidate();
      await connect();
    };
  }
}

/**
 * Calls `onCheck` when the other side tries to reach us. It knows our candidates then, and reveals
 * its own address. Must be called after the sockets were created.
 */
export function onConnectivityCheck(connection: RTCPeerConnection, onCheck: () => void): void {
  for (const transport of connection.iceTransports) {
    const ice = internalsOf(transport);
    for (const protocol of ice.protocols) {
      protocol.onRequestReceived.subscribe((request) => {
        const user = request.getAttributeValue('USERNAME');
        if (typeof user === 'string' && user.startsWith(`${ice.localUsername}:`)) onCheck();
      });
    }
  }
}

/** Handles socket errors; an unhandled one would end the process. */
export function onSocketError(
  connection: RTCPeerConnection,
  onError: (error: Error) => void,
): void {
  for (const ice of connection.iceTransports) {
    for (const { transport } of internalsOf(ice).protocols) {
      transport?.socket?.on('error', onError);
    }
  }
}

/**
 * Makes SRTP use KeyObjects: on some releases of Node they are many times faster than Buffers, and
 * never slower. The keys exist once SRTP has started.
 */
export function useKeyObjects(dtls: RTCDtlsTransport): void {
  const start = dtls.startSrtp.bind(dtls);
  dtls.startSrtp = () => {
    start();
    for (const session of [dtls.srtp, dtls.srtcp] as unknown as SrtpInternals[]) {
      for (const { cipher } of [session.localContext, session.remoteContext]) {
        for (const name of KEY_NAMES) {
          const key = cipher[name];
          if (Buffer.isBuffer(key)) cipher[name] = createSecretKey(key);
        }
      }
    }
  };
}

/**
 * Registers senders without an `a=ssrc` line in the SDP, so that they get receiver reports. werift
 * registers only senders with that line, although it is optional.
 */
export function routeUnannouncedSenders(
  connection: RTCPeerConnection,
  dtls: RTCDtlsTransport,
  transceiver: RTCRtpTransceiver,
): void {
  const router = routerOf(connection);
  let registered = 0;
  dtls.onRtp.subscribe(({ header: { ssrc } }) => {
    if (router.ssrcTable[ssrc] !== undefined || registered === UNANNOUNCED_SENDERS_MAX) return;
    registered += 1;
    const { receiver } = transceiver;
    const [codec] = transceiver.codecs;
    receiver.addTrack(
      new MediaStreamTrack({ kind: 'audio', ssrc, remote: true, ...(codec && { codec }) }),
    );
    router.registerRtpReceiver(receiver, ssrc);
  });
}

/** Whether ICE has found a path. */
export function hasNominatedPath(connection: RTCPeerConnection): boolean {
  const [transport] = connection.iceTransports;
  return transport !== undefined && internalsOf(transport).nominated !== undefined;
}

/**
 * Sends a STUN request on the media path (RFC 8445), and resolves when the response arrives. Returns
 * false if there is no path. Rejects if there is no response within `waitMs`.
 */
export async function pingPath(connection: RTCPeerConnection, waitMs: number): Promise<boolean> {
  const [transport] = connection.iceTransports;
  if (!transport) return false;
  const ice = internalsOf(transport);
  const { nominated, localUsername, remoteUsername, iceControlling } = ice;
  if (!nominated) return false;
  const { localCandidate, protocol, remoteAddr } = nominated;
  const identity = { localUsername, remoteUsername, iceControlling, localCandidate };
  const request = ice.buildRequest({ nominate: false, ...identity });
  await protocol.request(request, remoteAddr, Buffer.from(ice.remotePassword, 'utf8'), {
    retransmissions: 0,
    responseTimeout: waitMs,
  });
  return true;
}

function internalsOf(ice: RTCIceTransport): IceInternals {
  return ice.connection as unknown as IceInternals;
}

function routerOf(connection: RTCPeerConnection): RouterInternals {
  return (connection as unknown as { router: RouterInternals }).router;
}
