/**
 * Asks a function of the application a yes-or-no question. Only `true` is yes: a promise is an object, and objects are
 * truthy, so an asynchronous check would otherwise let everything through. What it throws is a no, not a crash.
 */
export function isTrue<T>(ask: (subject: T) => unknown, subject: T, onError: (error: unknown) => void): boolean {
  try {
    const answer = ask(subject);
    if (answer instanceof Promise) answer.catch(onError);
    return answer === true;
  } catch (error) {
    onError(error);
    return false;
  }
}
