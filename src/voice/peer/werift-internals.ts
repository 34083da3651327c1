/**
 * What the peer needs of werift below its public surface, all of it named here. werift is pinned to
 * the one release that was looked into; `assertInside` says at the first call what another lacks.
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

/** werift is not the release that the peer was made for. */
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

/** The part of an ICE connection that is used. */
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
    onRequestReceived: { subscribe(hear: (request: StunRequest) => void): unknown };
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

/** Senders of one call that are routed by themselves; a peer with more of them is not speaking. */
const UNANNOUNCED_SENDERS_MAX = 4;

/** Fails at once, and by name, where werift is not as it was. @throws UnsupportedWeriftError. */
export function assertInternals(connection: RTCPeerConnection): void {
  const [ice] = connection.iceTransports;
  const [dtls] = connection.dtlsTransports;
  const found: Record<string, boolean> = {
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
  const missing = Object.keys(found).filter((name) => found[name] !== true);
  if (missing.length > 0)
    throw new UnsupportedWeriftError(`this werift has no ${missing.join(', no ')}`);
}

/** An empty list of servers makes werift ask a public STUN server; this makes it ask none. */
export function disableStunServers(connection: RTCPeerConnection): void {
  for (const ice of connection.iceTransports) internalsOf(ice).stunServer = undefined;
}

/**
 * werift gives a connection up at once where there is no candidate to try, and one may come a moment
 * later. With this it waits for `something` to try first.
 */
export function delayConnect(
  connection: RTCPeerConnection,
  something: () => Promise<unknown>,
): void {
  for (const transport of connection.iceTransports) {
    const ice = internalsOf(transport);
    const connect = ice.connect.bind(ice);
    ice.connect = async () => {
      if (ice.checkList.length === 0) await something();
      await connect();
    };
  }
}

/**
 * Hears that the other side tries to reach us: it knows our candidates and, with that, shows its
 * own address. To be called once there are sockets.
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

/** Hears the errors of the sockets; one that nobody hears ends the process. */
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
 * Ciphers take a KeyObject many times faster than a Buffer on some releases of Node, and never
 * slower. The keys are there once SRTP has started.
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
 * werift routes a sender only when the SDP has an `a=ssrc` line for it, and the line is optional.
 * This routes one that speaks without, so that it gets its receiver reports.
 */
export function routeUnannouncedSenders(
  connection: RTCPeerConnection,
  dtls: RTCDtlsTransport,
  transceiver: RTCRtpTransceiver,
): void {
  const router = routerOf(connection);
  let latched = 0;
  dtls.onRtp.subscribe(({ header: { ssrc } }) => {
    if (router.ssrcTable[ssrc] !== undefined || latched === UNANNOUNCED_SENDERS_MAX) return;
    latched += 1;
    const { receiver } = transceiver;
    const [codec] = transceiver.codecs;
    receiver.addTrack(
      new MediaStreamTrack({ kind: 'audio', ssrc, remote: true, ...(codec && { codec }) }),
    );
    router.registerRtpReceiver(receiver, ssrc);
  });
}

/** Whether the two sides have found a path to each other. */
export function hasNominatedPath(connection: RTCPeerConnection): boolean {
  const [transport] = connection.iceTransports;
  return transport !== undefined && internalsOf(transport).nominated !== undefined;
}

/**
 * Asks the other side over the path that the media takes (STUN, RFC 8445), and resolves with the
 * answer. Undefined when there is no path. Rejects when no answer comes within `waitMs`.
 */
export async function pingPath(
  connection: RTCPeerConnection,
  waitMs: number,
): Promise<'answered' | undefined> {
  const [transport] = connection.iceTransports;
  if (!transport) return undefined;
  const ice = internalsOf(transport);
  const { nominated, localUsername, remoteUsername, iceControlling } = ice;
  if (!nominated) return undefined;
  const { localCandidate, protocol, remoteAddr } = nominated;
  const identity = { localUsername, remoteUsername, iceControlling, localCandidate };
  const request = ice.buildRequest({ nominate: false, ...identity });
  await protocol.request(request, remoteAddr, Buffer.from(ice.remotePassword, 'utf8'), {
    retransmissions: 0,
    responseTimeout: waitMs,
  });
  return 'answered';
}

function internalsOf(ice: RTCIceTransport): IceInternals {
  return ice.connection as unknown as IceInternals;
}

function routerOf(connection: RTCPeerConnection): RouterInternals {
  return (connection as unknown as { router: RouterInternals }).router;
}
