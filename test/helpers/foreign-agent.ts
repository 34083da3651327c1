/** A voice agent that shares nothing with the kit: ws and libwebrtc, as others build theirs. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { WebSocketServer, type WebSocket } from 'ws';
import { libwebrtcEnd, type LibwebrtcEnd } from './libwebrtc.ts';

/** What sets an agent apart from others; all of it is legal. */
export interface ForeignAgentOptions {
  /** What becomes of its offer. */
  changeOffer?: (sdp: string) => string;
  /** Names its candidates after the answer has come, and not in the offer. */
  trickles?: boolean;
}

/** An agent that listens. */
export interface ForeignAgent {
  voiceUrl: string;
  /** Its ends of the calls, oldest first. */
  ends: LibwebrtcEnd[];
}

/** An agent that says what it is told to, and ends with the test. */
export async function withForeignAgent(
  t: Test,
  options: ForeignAgentOptions = {},
): Promise<ForeignAgent> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const ends: LibwebrtcEnd[] = [];
  server.on('connection', (socket) => {
    const end = libwebrtcEnd(t);
    ends.push(end);
    serve(socket, end, `call-${ends.length}`, options);
  });
  const { port } = server.address() as AddressInfo;
  return { voiceUrl: `ws://127.0.0.1:${port}/voice`, ends };
}

function serve(
  socket: WebSocket,
  end: LibwebrtcEnd,
  call_id: string,
  { changeOffer = (sdp) => sdp, trickles = false }: ForeignAgentOptions,
): void {
  const send = (message: object): void => socket.send(JSON.stringify(message));
  let candidates: string[] = [];
  const offer = async (): Promise<void> => {
    const described = await end.offer();
    candidates = described.candidates;
    const sdp = changeOffer(trickles ? withoutCandidates(described.sdp) : described.sdp);
    send({ type: 'call_ready', call_id, webrtc_offer: { type: 'offer', sdp } });
  };
  const take = async (sdp: string): Promise<void> => {
    await end.accept(sdp);
    for (const candidate of trickles ? candidates : []) {
      send({ type: 'ice_candidate', call_id, candidate: { candidate, sdpMLineIndex: 0 } });
    }
  };
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as {
      type: string;
      webrtc_answer?: { sdp: string };
    };
    if (message.type === 'start_call') void offer();
    if (message.type === 'webrtc_answer') void take(message.webrtc_answer?.sdp ?? '');
  });
  socket.on('close', () => end.close());
}

/** A description that leaves the candidates for later. */
export const withoutCandidates = (sdp: string): string =>
  sdp.replace(/^a=(candidate|end-of-candidates).*\r\n/gm, '');
