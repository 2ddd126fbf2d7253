"""Settings of the model, by name and as JSON."""

import pytest

from thalweg.models import Quadratic, make_model, pack_model, unpack_model


def test_models_by_name_and_by_settings():
    assert make_model(None) is None
    assert make_model("quadratic") == Quadratic()
    assert make_model(Quadratic(tau=0.5)) == Quadratic(tau=0.5)
    with pytest.raises(ValueError, match=r"model 'cubic' is unknown; the names are 'quadratic'"):
        make_model("cubic")
    with pytest.raises(TypeError, match=r"model must be None, a name or thalweg\.Quadratic\(\.\.\.\), got 3"):
        make_model(3)


def test_settings_come_back_from_a_file():
    assert unpack_model(None) is None
    settings = Quadratic(weight=3, targets="ranks", offer=False)
    assert unpack_model(pack_model(settings)) == settings
    for strange in ({"name": "cubic"}, {"name": "quadratic"}, pack_model(Quadratic()) | {"more": 1}):
        with pytest.raises(ValueError, match="is no model"):
            unpack_model(strange)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tau": 2}, "tau must be a number from -1 to 1, got 2"),
        ({"size": 1.0}, "size must be a number from 1.5 to 1000, got 1"),
        ({"used": 0.4}, "used must be a number from 0.5 to 1, got 0.4"),
        ({"weight": 0.5}, "weight must be a number from 1 to 1e\\+06, got 0.5"),
        ({"targets": "logs"}, "targets must be one of .* got 'logs'"),
    ],
)
def test_wrong_settings_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        Quadratic(**given)
