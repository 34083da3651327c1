import * as kinds from '../src/platform/option-kinds.ts';
import type { AgentOptions, VoiceOptions } from './start.ts';
import type { TlsOptions } from './tls.ts';

type FileTls = Extract<TlsOptions, { kind: 'files' }>;

const aTls = kinds.optionsOf<FileTls>(
  { kind: kinds.oneOf(['made', 'files']), certFile: kinds.aText, keyFile: kinds.aText },
  ['kind'],
);

const aVoice = kinds.optionsOf<VoiceOptions>({
  address: kinds.aText,
  ports: kinds.listOf(kinds.aPort),
  callsMax: kinds.aWholeNumber(1, 100_000),
  callMsMax: kinds.aWholeNumber(1, 86_400_000),
  answerMsMax: kinds.aWholeNumber(1, 86_400_000),
  hangOverMs: kinds.aWholeNumber(1, 60_000),
  captions: kinds.aFlag,
});

/** What each option of `startAgent` must be. */
export const agentOptionKinds: kinds.OptionKinds<AgentOptions> = {
  host: kinds.aText,
  port: kinds.aPort,
  apiKey: kinds.orNull(kinds.aString),
  open: kinds.aFlag,
  seed: kinds.aText,
  clock: kinds.aClock,
  log: kinds.aLog,
  tls: kinds.orNull(aTls),
  // What is in them, their own schemas say.
  faults: kinds.aList,
  script: kinds.orNull(kinds.anObject),
  voice: kinds.orNull(aVoice),
  journalEntriesMax: kinds.aWholeNumber(0, 1_000_000),
  journalBodies: kinds.aFlag,
};
