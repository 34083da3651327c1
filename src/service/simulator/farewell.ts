/** Whether a reply takes leave, in words that are used for nothing else. */
export function takesLeave(reply: string): boolean {
  return /\b(?:good ?bye|bye|bye-bye|farewell|auf wiedersehen|au revoir)\b/i.test(reply);
}
