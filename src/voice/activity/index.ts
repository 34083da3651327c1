/** Voice activity detection: level meter, speech onsets and the end of a turn. */
export { type EndedSpeech, EndOfTurnDetector, type TurnEvent } from './end-of-turn-detector.ts';
export {
  LEVEL_WINDOW_TICKS,
  LevelMeter,
  measureLevelDb,
  measureLevels,
  measurePackets,
  SPEECH_LEVEL_DB,
  type LevelWindow,
} from './level-meter.ts';
export { findOnsets, PAUSE_MS_MIN, speechThresholdDb } from './speech-onsets.ts';
export { VoiceActivityDetector } from './voice-activity-detector.ts';
