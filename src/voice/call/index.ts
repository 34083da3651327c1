/** The caller's side of a voice call: the door to the room. */
export { CallFailed, type CallFailure } from './call-failed.ts';
export { CallRecording, type CallAudio } from './call-recording.ts';
export {
  answerTo,
  candidateIn,
  offerIn,
  opusTypeIn,
  parseMessage,
  type AnswerForm,
  type CallMessage,
} from './messages.ts';
export { Microphone, type Said } from './microphone.ts';
export {
  openSocket,
  type AskedFor,
  type SocketListener,
  type SocketRequest,
  type UpgradeAnswer,
} from './open-socket.ts';
export { ownAddress } from './own-address.ts';
export { OutgoingCall, type OutgoingCallParts } from './outgoing-call.ts';
export { usualAnswerForm, voiceUrlOf, type VoiceTarget } from './voice-target.ts';
