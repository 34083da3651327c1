/** The caller's side of a voice call. */
export { alignCall, type AlignedCall } from './align-call.ts';
export { CallError, type CallFailure } from './call-error.ts';
export { CallRecording, type CallAudio } from './call-recording.ts';
export {
  createAnswerMessage,
  readCandidate,
  readOffer,
  readOpusPayloadType,
  parseMessage,
  type CallMessage,
} from './messages.ts';
export { Microphone } from './microphone.ts';
export { openSocket, type SocketListener, type SocketRequest } from './open-socket.ts';
export { createAddressFilter } from './media-addresses.ts';
export { findLocalAddress } from './local-address.ts';
export { OutgoingCall, type OutgoingCallOptions } from './outgoing-call.ts';
export { defaultAnswerForm, type AnswerForm, type VoiceTarget } from './voice-target.ts';
