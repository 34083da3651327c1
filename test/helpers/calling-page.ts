/** A page in a browser that calls an agent, with the browser's own WebRTC and microphone. */
import type { Browser, Page } from 'playwright-core';

/** What the browser says of the sound that it gets; times in seconds. */
export interface HeardByBrowser {
  packetsReceived: number;
  packetsLost: number;
  jitter: number;
  /** Samples that it had to invent, and those of them that it invented as silence. */
  concealedSamples: number;
  silentConcealedSamples: number;
  totalSamplesReceived: number;
  totalAudioEnergy: number;
}

/** A call of a browser. */
export interface BrowserCall {
  page: Page;
  messages: () => Promise<Record<string, unknown>[]>;
  /** `connected` once media can flow. */
  state: () => Promise<string>;
  heard: () => Promise<HeardByBrowser | undefined>;
  answer: () => Promise<string>;
  hangUp: () => Promise<void>;
}

/** Runs in the page. */
const SCRIPT = `
const messages = [];
let socket, connection, stream;
async function begin(url, trickles) {
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
    const name = (candidate) =>
      send({ type: 'ice_candidate', call_id, candidate: candidate.toJSON() });
    connection.onicecandidate = ({ candidate }) => {
      if (!trickles || !candidate?.candidate) return;
      if (isAnswered) name(candidate);
      else early.push(candidate);
    };
    await connection.setRemoteDescription(message.webrtc_offer);
    const described = await connection.createAnswer();
    await connection.setLocalDescription(described);
    while (!trickles && connection.iceGatheringState !== 'complete') {
      await new Promise((resolve) => (connection.onicegatheringstatechange = resolve));
    }
    const { sdp } = trickles ? described : connection.localDescription;
    send({ type: 'webrtc_answer', call_id, webrtc_answer: { type: 'answer', sdp } });
    isAnswered = true;
    early.forEach(name);
  };
}
async function heard() {
  const found = [...(await connection.getStats()).values()];
  return found.find(({ type }) => type === 'inbound-rtp');
}
function hangUp() {
  socket.close();
  connection.close();
}
`;

/**
 * Places a call from a page of this address, which must be one that may use a microphone.
 * `trickles`: names its candidates only after the answer.
 */
export async function browserCall(
  browser: Browser,
  pageUrl: string,
  voiceUrl: string,
  trickles = false,
): Promise<BrowserCall> {
  const page = await browser.newPage();
  await page.goto(pageUrl);
  await page.addScriptTag({ content: SCRIPT });
  await page.evaluate(`begin(${JSON.stringify(voiceUrl)}, ${String(trickles)})`);
  return {
    page,
    messages: () => page.evaluate('messages'),
    state: () => page.evaluate('connection.connectionState'),
    heard: () => page.evaluate('heard()'),
    answer: () => page.evaluate('connection.localDescription.sdp'),
    hangUp: () => page.evaluate('hangUp()'),
  };
}
