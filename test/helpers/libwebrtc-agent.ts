/** A voice agent that shares no code with the kit: it uses `ws` and libwebrtc. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { WebSocketServer, type WebSocket } from 'ws';
import { startLibwebrtcPeer, type LibwebrtcPeer } from './libwebrtc-peer.ts';

/** Differences between agents, all of them legal. */
export interface LibwebrtcAgentOptions {
  /** Changes the SDP of the offer. */
  changeOffer?: (sdp: string) => string;
  /** Sends its candidates after the answer instead of in the offer. */
  trickles?: boolean;
}

export interface LibwebrtcAgent {
  voiceUrl: string;
  /** The agent's peers, one per call, oldest first. */
  peers: LibwebrtcPeer[];
}

/** Starts an agent whose speech the test controls, and stops it after the test. */
export async function withLibwebrtcAgent(
  t: Test,
  options: LibwebrtcAgentOptions = {},
): Promise<LibwebrtcAgent> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const peers: LibwebrtcPeer[] = [];
  server.on('connection', (socket) => {
    const peer = startLibwebrtcPeer(t);
    peers.push(peer);
    serve(socket, peer, `call-${peers.length}`, options);
  });
  const { port } = server.address() as AddressInfo;
  return { voiceUrl: `ws://127.0.0.1:${port}/voice`, peers };
}

function serve(
  socket: WebSocket,
  peer: LibwebrtcPeer,
  call_id: string,
  { changeOffer = (sdp) => sdp, trickles = false }: LibwebrtcAgentOptions,
): void {
  const send = (message: object): void => socket.send(JSON.stringify(message));
  let candidates: string[] = [];
  const sendOffer = async (): Promise<void> => {
    const offer = await peer.createOffer();
    candidates = offer.candidates;
    const sdp = changeOffer(trickles ? withoutCandidates(offer.sdp) : offer.sdp);
    send({ type: 'call_ready', call_id, webrtc_offer: { type: 'offer', sdp } });
  };
  const acceptAnswer = async (sdp: string): Promise<void> => {
    await peer.acceptAnswer(sdp);
    for (const candidate of trickles ? candidates : []) {
      send({ type: 'ice_candidate', call_id, candidate: { candidate, sdpMLineIndex: 0 } });
    }
  };
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as {
      type: string;
      webrtc_answer?: { sdp: string };
    };
    if (message.type === 'start_call') void sendOffer();
    if (message.type === 'webrtc_answer') void acceptAnswer(message.webrtc_answer?.sdp ?? '');
  });
  socket.on('close', () => peer.close());
}

/** Removes the candidates from a session description. */
export const withoutCandidates = (sdp: string): string =>
  sdp.replace(/^a=(candidate|end-of-candidates).*\r\n/gm, '');
