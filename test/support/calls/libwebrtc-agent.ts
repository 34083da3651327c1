/** A voice agent that shares no code with the kit: it uses `ws` and libwebrtc. */
import type { Test } from 'tap';
import { WebSocketServer, type WebSocket } from 'ws';
import { startLibwebrtcPeer, type LibwebrtcPeer } from './libwebrtc-peer.ts';
import type { TurnTakingHabits } from './turn-taking-agent.ts';
import { onlyHealth, withSandboxDouble } from '../sandboxes/sandbox-double.ts';

/** Differences between agents, all of them legal. */
export interface LibwebrtcAgentOptions {
  /** Changes the SDP of the offer. */
  changeOffer?: (sdp: string) => string;
  /** Sends its candidates after the answer instead of in the offer. */
  trickles?: boolean;
  /** How it takes turns by itself; without them, the test controls its speech. */
  habits?: TurnTakingHabits;
}

interface LibwebrtcAgent {
  /** Base URL; it has /health, and no users. */
  url: string;
  voiceUrl: string;
  /** The agent's peers, one per call, oldest first. */
  peers: LibwebrtcPeer[];
}

/** Starts an agent, and stops it after the test. */
export async function withLibwebrtcAgent(
  t: Test,
  options: LibwebrtcAgentOptions = {},
): Promise<LibwebrtcAgent> {
  const server = new WebSocketServer({ noServer: true });
  const peers: LibwebrtcPeer[] = [];
  const acceptCall = (socket: WebSocket): void => {
    const call_id = `call-${peers.length + 1}`;
    const peer = startLibwebrtcPeer(t, () => {
      const transcript = { user: '', agent: 'I can help you with that.' };
      socket.send(JSON.stringify({ type: 'conversation_update', call_id, transcript }));
    });
    peers.push(peer);
    serve(socket, peer, call_id, options);
  };
  const { url } = await withSandboxDouble(t, onlyHealth, {
    handleUpgrade: (...upgrade) => server.handleUpgrade(...upgrade, acceptCall),
  });
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate();
  });
  return { url, voiceUrl: `${url.replace('http', 'ws')}/voice`, peers };
}

function serve(
  socket: WebSocket,
  peer: LibwebrtcPeer,
  call_id: string,
  { changeOffer = (sdp) => sdp, trickles = false, habits }: LibwebrtcAgentOptions,
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
    if (habits) await peer.takeTurns(JSON.stringify(habits));
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
  // A test may ask a peer that takes turns when it spoke, after the call.
  if (!habits) socket.on('close', () => peer.close());
}

/** Removes the candidates from a session description. */
export const withoutCandidates = (sdp: string): string =>
  sdp.replace(/^a=(candidate|end-of-candidates).*\r\n/gm, '');
