/** The caller's side of a voice call, as the judge and the load test place it: the door to the room. */
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
