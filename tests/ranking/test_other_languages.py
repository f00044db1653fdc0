"""No rule that was made for English works against a text in another language."""

import pytest

from lore.ranking.confidence import Support, confidence
from lore.ranking.excerpt import excerpt
from lore.ranking.relate import differ_in_detail
from lore.ranking.repeats import Statement, asks_again, repeats


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("数据库端口是多少", "我们的数据库用的端口是5433"),
        ("サーバーのポート番号", "新しいサーバーのポート番号は5433です"),
        ("서버 포트 번호", "새 서버의 포트 번호는 5433이다"),
        ("พอร์ตของเซิร์ฟเวอร์", "ใช้พอร์ตของเซิร์ฟเวอร์ใหม่"),
    ],
)
def test_common_words_without_spaces_make_sure_as_common_words_do(question: str, text: str) -> None:
    unlike = confidence(question, [Support(0.3, "something else")])
    assert confidence(question, [Support(0.3, text)]) > unlike + 0.3


def test_a_german_noun_is_no_unknown_name() -> None:
    question = "Auf welchem Port läuft der Datenbankserver?"
    hits = [Support(0.4, "Der Server der Datenbank bekommt den Port 5433.")]
    assert confidence(question, hits) == confidence(question.lower(), hits)
    english = "Which port has Datenbankserver?"
    assert confidence(english, hits) < confidence(english.lower(), hits)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wir nutzen Redis im Shop", "Wir nutzen Redis im Shop niemals"),
        ("Usamos caché externa", "Nunca usamos caché externa"),
        ("Usiamo la cache", "Non usiamo la cache"),
        ("我们用外部缓存", "我们不用外部缓存"),
        ("外部キャッシュを使う", "外部キャッシュは使わない"),
    ],
)
def test_a_negation_tells_texts_apart(one: str, other: str) -> None:
    assert differ_in_detail(one, other)


def test_a_memory_without_spaces_replaces_the_turn_that_says_the_same() -> None:
    turn = Statement(id="turn", text="好的。生产数据库的端口是5433。另外备份在周日。", verbatim=True)
    same = Statement(id="same", text="生产数据库的端口是5433。", distilled=True)
    other = Statement(id="other", text="测试数据库的端口是5432。", distilled=True)
    assert repeats("数据库的端口", [turn, same]).stands_for == {"same": ["turn"]}
    assert repeats("数据库的端口", [turn, other]).stands_for == {}


def test_a_question_asked_again_without_spaces_is_recognised() -> None:
    assert asks_again("数据库的端口是多少？", "数据库的端口是多少？")
    assert not asks_again("数据库的端口是多少？", "数据库的端口是多少？是5433。")


@pytest.mark.parametrize(
    ("other", "telling", "query"),
    [
        ("วันนี้อากาศดีมาก", "ฐานข้อมูลอยู่ที่แฟรงก์เฟิร์ต", "ฐานข้อมูล"),
        ("오늘은 날씨가 좋다 ", "데이터베이스는 프랑크푸르트에 있다 ", "데이터베이스"),
    ],
)
def test_an_excerpt_is_found_in_any_script(other: str, telling: str, query: str) -> None:
    assert query in excerpt(other * 60 + telling + other * 60, query, width=90)
