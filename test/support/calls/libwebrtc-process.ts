/**
 * A peer with the WebRTC stack of browsers, including its encoder. It runs in its own process,
 * because libwebrtc may crash the process on exit. `libwebrtc-peer.ts` starts it and sends commands.
 */
import wrtc from '@roamhq/wrtc';
import { systemClock } from '../../../src/platform/clock.ts';
import { loadClip } from './caller.ts';
import { decodeClip } from './clip-audio.ts';
import { EnergyTurnTaker, type SpokenSpan } from './energy-turn-taker.ts';
import { loadLongClip, type TurnTakingHabits } from './turn-taking-agent.ts';

/** The commands that the process accepts, by name. */
export interface PeerCommands {
  createOffer: () => Promise<DescriptionWithCandidates>;
  createAnswer: (offer: string) => Promise<DescriptionWithCandidates>;
  acceptAnswer: (answer: string) => Promise<void>;
  addCandidate: (candidate: string) => Promise<void>;
  /** Plays a clip, with silence before and after it. */
  say: (clipId: string) => Promise<void>;
  countFrames: () => FrameCounts;
  /** From now on, the peer takes turns with the caller; `habits` is JSON. */
  takeTurns: (habits: string) => Promise<void>;
  /** Returns when the peer spoke while it took turns, and how late it was. */
  reportSpeech: () => SpeechReport;
}

/** When the peer spoke, in milliseconds of the system's monotonic clock. */
interface SpeechReport {
  spoken: SpokenSpan[];
  /** The longest delay of a frame. */
  lateMs: number;
}

/** A session description that contains all candidates, and the list of them. */
interface DescriptionWithCandidates {
  sdp: string;
  candidates: string[];
}

/** Received frames of 10 ms, and how many of them were loud. */
interface FrameCounts {
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

// The package's own types need the DOM types, which are not available in Node.
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
/** All processes of a machine share this clock. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
let turnTaker: EnergyTurnTaker | undefined;
let lateMs = 0;
const counts: FrameCounts = { frames: 0, loud: 0 };
connection.ontrack = ({ track }) => {
  const sink = new nonstandard.RTCAudioSink(track);
  sink.ondata = ({ samples }) => {
    turnTaker?.hear(samples, monotonicMs());
    counts.frames += 1;
    if (samples.some((sample) => Math.abs(sample) > LOUD_SAMPLE)) counts.loud += 1;
  };
};
const source = new nonstandard.RTCAudioSource();
connection.addTrack(source.createTrack());
let unspoken = new Int16Array(0);

async function sendFrames(): Promise<never> {
  const startMs = systemClock.monotonicMs();
  for (let nth = 0; ; nth += 1) {
    const samples = new Int16Array(FRAME_SAMPLES);
    if (turnTaker) {
      lateMs = Math.max(lateMs, systemClock.monotonicMs() - startMs - nth * FRAME_MS);
      samples.set(turnTaker.nextFrame(FRAME_SAMPLES, monotonicMs()));
    } else {
      samples.set(unspoken.subarray(0, FRAME_SAMPLES));
      unspoken = unspoken.subarray(FRAME_SAMPLES);
    }
    source.onData({ samples, sampleRate: 48_000 });
    await systemClock.sleep(Math.max(0, startMs + nth * FRAME_MS - systemClock.monotonicMs()));
  }
}

async function describe(): Promise<DescriptionWithCandidates> {
  await gathered;
  return { sdp: connection.localDescription?.sdp ?? '', candidates };
}

const commands: PeerCommands = {
  async createOffer() {
    await connection.setLocalDescription(await connection.createOffer());
    return describe();
  },
  async createAnswer(sdp) {
    await connection.setRemoteDescription({ type: 'offer', sdp });
    await connection.setLocalDescription(await connection.createAnswer());
    return describe();
  },
  acceptAnswer: (sdp) => connection.setRemoteDescription({ type: 'answer', sdp }),
  addCandidate: (candidate) => connection.addIceCandidate({ candidate, sdpMLineIndex: 0 }),
  async say(clipId) {
    unspoken = new Int16Array(await decodeClip(await loadClip(clipId)));
  },
  countFrames: () => counts,
  async takeTurns(habits) {
    const answer = await decodeClip(await loadLongClip());
    const onAnswer = (): void => void process.send?.({ event: 'answer' });
    turnTaker = new EnergyTurnTaker(JSON.parse(habits) as TurnTakingHabits, answer, onAnswer);
  },
  reportSpeech: () => ({ spoken: turnTaker?.spoken ?? [], lateMs }),
};

process.on('message', ({ id, name, argument }: { id: number; name: string; argument: string }) => {
  const command = commands[name as keyof PeerCommands] as (argument: string) => unknown;
  Promise.resolve(command(argument)).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
void sendFrames();
