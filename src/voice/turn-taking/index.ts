/** How the two sides of a call take turns: pure calculations from the audio of both. */
export { AgentLaneRecorder, type LanePacket } from './agent-lane.ts';
export { measureTurnTaking, type Utterance } from './measure.ts';
export { summarizeTurnTaking } from './summarize.ts';
