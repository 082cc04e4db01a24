//! How long a source rests after a failure (S0-13, S0-17).

const HOUR: i64 = 3600;
/// The first rest after an ordinary failure; it doubles with each further one.
const FIRST: i64 = 900;

/// Seconds to rest. The message is searched for the seed's literal words, in its order: rate limits, then expired
/// credentials, then refusals (I5). "generate" contains "rate"; whoever calls this therefore builds the message from a
/// typed error and never from the words of a page.
pub fn calculate_backoff(fail_count: u32, error_message: &str) -> i64 {
    let message = error_message.to_lowercase();
    let says = |words: [&str; 3]| words.iter().any(|word| !word.is_empty() && message.contains(word));
    if says(["429", "rate", "频繁"]) {
        6 * HOUR
    } else if says(["401", "expired", "过期"]) {
        0
    } else if says(["403", "forbidden", ""]) {
        12 * HOUR
    } else {
        // 2^7 quarters of an hour are more than a day already.
        (FIRST << fail_count.saturating_sub(1).min(7)).min(24 * HOUR)
    }
}
