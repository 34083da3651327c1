/**
 * One end of a call that is not ours: libwebrtc, as browsers have it, encoder and all. A program of
 * its own, since libwebrtc may end the process that it leaves; `libwebrtc.ts` talks to it.
 */
import wrtc from '@roamhq/wrtc';
import { systemClock } from '../../src/platform/clock.ts';
import { clipOf } from './caller.ts';
import { samplesOf } from './sound.ts';

/** What is asked of an end, by name. */
export interface EndAsks {
  offer: () => Promise<Described>;
  answer: (offer: string) => Promise<Described>;
  accept: (answer: string) => Promise<void>;
  addCandidate: (candidate: string) => Promise<void>;
  /** Says a clip; silence before and after. */
  say: (clipId: string) => Promise<void>;
  /** Frames of 10 ms that were heard, and those that were loud. */
  heard: () => Heard;
}

/** A description with all candidates in it, and these by themselves. */
export interface Described {
  sdp: string;
  candidates: string[];
}

export interface Heard {
  frames: number;
  loud: number;
}

interface Connection {
  localDescription: { sdp: string } | null;
  onicecandidate: (event: { candidate: { candidate: string } | null }) => void;
  ontrack: (event: { track: object }) => void;
  addTrack: (track: object) => void;
  createOffer: () => Promise<object>;
  createAnswer: () => Promise<object>;
  setLocalDescription: (description: object) => Promise<void>;
  setRemoteDescription: (description: { type: string; sdp: string }) => Promise<void>;
  addIceCandidate: (candidate: { candidate: string; sdpMLineIndex: number }) => Promise<void>;
}

// Its own types are those of a browser, which are not there in Node.
const { RTCPeerConnection, nonstandard } = wrtc as unknown as {
  RTCPeerConnection: new () => Connection;
  nonstandard: {
    RTCAudioSink: new (track: object) => { ondata: (frame: { samples: Int16Array }) => void };
    RTCAudioSource: new () => {
      createTrack: () => object;
      onData: (frame: { samples: Int16Array; sampleRate: number }) => void;
    };
  };
};
const FRAME_SAMPLES = 480;
const FRAME_MS = 10;
const LOUD_SAMPLE = 1_000;

const connection = new RTCPeerConnection();
const candidates: string[] = [];
const gathered = new Promise<void>((resolve) => {
  connection.onicecandidate = ({ candidate }) => {
    if (candidate?.candidate) candidates.push(candidate.candidate);
    if (!candidate) resolve();
  };
});
const heard: Heard = { frames: 0, loud: 0 };
connection.ontrack = ({ track }) => {
  const sink = new nonstandard.RTCAudioSink(track);
  sink.ondata = ({ samples }) => {
    heard.frames += 1;
    if (samples.some((sample) => Math.abs(sample) > LOUD_SAMPLE)) heard.loud += 1;
  };
};
const source = new nonstandard.RTCAudioSource();
connection.addTrack(source.createTrack());
let said = new Int16Array(0);

async function speak(): Promise<void> {
  const startMs = systemClock.monotonicMs();
  for (let nth = 0; ; nth += 1) {
    const samples = new Int16Array(FRAME_SAMPLES);
    samples.set(said.subarray(0, FRAME_SAMPLES));
    said = said.subarray(FRAME_SAMPLES);
    source.onData({ samples, sampleRate: 48_000 });
    await systemClock.sleep(Math.max(0, startMs + nth * FRAME_MS - systemClock.monotonicMs()));
  }
}

async function described(): Promise<Described> {
  await gathered;
  return { sdp: connection.localDescription?.sdp ?? '', candidates };
}

const asks: EndAsks = {
  async offer() {
    await connection.setLocalDescription(await connection.createOffer());
    return described();
  },
  async answer(sdp) {
    await connection.setRemoteDescription({ type: 'offer', sdp });
    await connection.setLocalDescription(await connection.createAnswer());
    return described();
  },
  accept: (sdp) => connection.setRemoteDescription({ type: 'answer', sdp }),
  addCandidate: (candidate) => connection.addIceCandidate({ candidate, sdpMLineIndex: 0 }),
  async say(clipId) {
    said = new Int16Array(await samplesOf(await clipOf(clipId)));
  },
  heard: () => heard,
};

process.on('message', ({ id, name, given }: { id: number; name: string; given: string }) => {
  const ask = asks[name as keyof EndAsks] as (given: string) => unknown;
  Promise.resolve(ask(given)).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
void speak();
