/** A web page that calls an agent with the browser's own WebRTC and microphone. */
import type { Browser, Page } from 'playwright-core';

/** The browser's statistics of the audio that it receives; times in seconds. */
export interface InboundAudioStats {
  packetsReceived: number;
  packetsLost: number;
  jitter: number;
  /** Samples that replaced missing audio. */
  concealedSamples: number;
  totalSamplesReceived: number;
  totalAudioEnergy: number;
}

export interface BrowserCall {
  page: Page;
  messages: () => Promise<Record<string, unknown>[]>;
  /** Returns `connected` once media can flow. */
  state: () => Promise<string>;
  inboundStats: () => Promise<InboundAudioStats | undefined>;
  answerSdp: () => Promise<string>;
  hangUp: () => Promise<void>;
}

/** Runs in the page. */
const SCRIPT = `
const messages = [];
let socket, connection, stream;
async function start(url, trickles) {
  stream = await navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
  });
  connection = new RTCPeerConnection();
  for (const track of stream.getTracks()) connection.addTrack(track, stream);
  connection.ontrack = ({ track }) => {
    const audio = new Audio();
    audio.srcObject = new MediaStream([track]);
    void audio.play();
  };
  socket = new WebSocket(url, ['voice-agent']);
  const send = (message) => socket.send(JSON.stringify(message));
  socket.onopen = () => send({ type: 'start_call', audio_config: { codec: 'opus' } });
  socket.onmessage = async ({ data }) => {
    const message = JSON.parse(data);
    messages.push(message);
    if (message.type !== 'call_ready') return;
    const { call_id } = message;
    const early = [];
    let isAnswered = false;
    const sendCandidate = (candidate) =>
      send({ type: 'ice_candidate', call_id, candidate: candidate.toJSON() });
    connection.onicecandidate = ({ candidate }) => {
      if (!trickles || !candidate?.candidate) return;
      if (isAnswered) sendCandidate(candidate);
      else early.push(candidate);
    };
    await connection.setRemoteDescription(message.webrtc_offer);
    const answer = await connection.createAnswer();
    await connection.setLocalDescription(answer);
    while (!trickles && connection.iceGatheringState !== 'complete') {
      await new Promise((resolve) => (connection.onicegatheringstatechange = resolve));
    }
    const { sdp } = trickles ? answer : connection.localDescription;
    send({ type: 'webrtc_answer', call_id, webrtc_answer: { type: 'answer', sdp } });
    isAnswered = true;
    early.forEach(sendCandidate);
  };
}
async function inboundStats() {
  const stats = [...(await connection.getStats()).values()];
  return stats.find(({ type }) => type === 'inbound-rtp');
}
function hangUp() {
  socket.close();
  connection.close();
}
`;

/**
 * Places a call from the page at `pageUrl`, which must be allowed to use a microphone. With
 * `trickles`, the page sends its candidates after the answer.
 */
export async function placeBrowserCall(
  browser: Browser,
  pageUrl: string,
  voiceUrl: string,
  trickles = false,
): Promise<BrowserCall> {
  const page = await browser.newPage();
  await page.goto(pageUrl);
  await page.addScriptTag({ content: SCRIPT });
  await page.evaluate(`start(${JSON.stringify(voiceUrl)}, ${String(trickles)})`);
  return {
    page,
    messages: () => page.evaluate('messages'),
    state: () => page.evaluate('connection.connectionState'),
    inboundStats: () => page.evaluate('inboundStats()'),
    answerSdp: () => page.evaluate('connection.localDescription.sdp'),
    hangUp: () => page.evaluate('hangUp()'),
  };
}
