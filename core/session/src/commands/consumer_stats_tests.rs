use super::in_utc;
use vocabulary::WallTime;

#[test]
fn moments_are_written_as_pulsar_writes_them() {
    assert_eq!(in_utc(WallTime(0)), "1970-01-01T00:00:00Z");
    assert_eq!(in_utc(WallTime(951_782_399_500)), "2000-02-28T23:59:59.5Z");
    assert_eq!(in_utc(WallTime(951_782_400_000)), "2000-02-29T00:00:00Z");
    assert_eq!(
        in_utc(WallTime(951_868_800_007)),
        "2000-03-01T00:00:00.007Z"
    );
    assert_eq!(
        in_utc(WallTime(4_107_542_400_120)),
        "2100-03-01T00:00:00.12Z"
    );
    assert_eq!(
        in_utc(WallTime(1_709_251_199_999)),
        "2024-02-29T23:59:59.999Z"
    );
}
