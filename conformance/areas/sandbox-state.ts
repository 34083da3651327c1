import type { Clip } from '../../src/voice/opus/index.ts';
import type { Probe, ProbeContext } from '../engine/probe.ts';
import type { RequirementId } from '../engine/requirement.ts';

/** What the probes of a sandbox run share. */
export interface SandboxState {
  readonly users: SimulatedUsers;
  readonly voice: VoiceState;
}

/** A probe of a sandbox, and what it can do. */
export type SandboxProbe<Id extends RequirementId = RequirementId> = Probe<SandboxState, Id>;
export type SandboxContext = ProbeContext & SandboxState;

/** The simulated users of a run. */
export interface SimulatedUsers {
  /** The user that chat requests and calls name; undefined if no user could be created. */
  chatAs: string | undefined;
  /** The sandbox has no `POST /users`. */
  isUnsupported: boolean;
  /** Ids of users that exist and are deleted at the end. */
  readonly existing: Set<string>;
  /** Ids that the sandbox should have refused. They are deleted at the end, too. */
  readonly wronglyAccepted: Set<string>;
  /** How many users could not be deleted on any connection. */
  lost: number;
}

/** What the run knows about the voice endpoint. */
export interface VoiceState {
  /** How the WebSocket was refused, if an unknown path is refused in the same way. */
  refused: 'answered' | 'unanswered' | undefined;
  /** The health response says that voice is operational. */
  isClaimed: boolean;
  /** The sandbox has no voice endpoint. */
  readonly isAbsent: boolean;
  /** `flows` once media was received; `none` once the sandbox ignored the kit's SDP answer. */
  media: 'unknown' | 'flows' | 'none';
  /** Loads the recorded speech that the kit plays. */
  clips: () => Promise<readonly Clip[]>;
}

/** Creates the state of a run that has sent nothing. */
export function createSandboxState(): SandboxState {
  return {
    users: {
      chatAs: undefined,
      isUnsupported: false,
      existing: new Set(),
      wronglyAccepted: new Set(),
      lost: 0,
    },
    voice: {
      refused: undefined,
      isClaimed: false,
      get isAbsent() {
        return this.refused === 'answered' || (this.refused === 'unanswered' && !this.isClaimed);
      },
      media: 'unknown',
      // Loading the speech takes a moment, and most runs place no calls.
      clips: async () => (await import('../../src/voice/opus/index.ts')).readClips(),
    },
  };
}
